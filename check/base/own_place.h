/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_place.h - what this node can find out of its own place in the fabric: its NVLink domain and
 * its Neuron UltraServer
 *
 * One thread.
 */
#ifndef OSP_OWN_PLACE_H
#define OSP_OWN_PLACE_H

#include "lib/topology/report.h"

enum osp_own_nvlink {
	OSP_NVLINK_KNOWN,   /* report->nvlink is a domain, or OSP_REPORT_NONE */
	OSP_NVLINK_PENDING, /* the GPUs have not joined their domain yet: OSP_REPORT_NONE for now */
	OSP_NVLINK_SILENT,  /* NVML does not answer in time, or not about all GPUs: "" */
	OSP_NVLINK_APART,   /* the GPUs do not agree: OSP_REPORT_NONE */
};

/* Asks NVML in a child, for at most `limit_ms`, about the GPUs of the node below `root`. A domain
 * counts only in the fabric's state "completed". */
enum osp_own_nvlink osp_own_nvlink(const char *root, unsigned int limit_ms,
				   struct osp_place_report *report);

/* Reads the Neuron driver's sysfs below `root`: report->neuron is "4.7", the size and the number of
 * the UltraServer, or OSP_REPORT_NONE. */
void osp_own_neuron(const char *root, struct osp_place_report *report);

#endif
