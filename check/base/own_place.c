/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_place.c - what this node can find out of its own place in the fabric */
#include "check/base/own_place.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/gpus.h"
#include "check/base/root.h"
#include "lib/base/text.h"

/* --- NVLink, in a child ----------------------------------------------------------------------- */

struct answer {
	enum osp_own_nvlink kind;
	char nvlink[OSP_REPORT_WORD_BYTES];
};

/* Asks about one GPU. `nvlink` is its domain, or none. */
static enum osp_own_nvlink ask_gpu(unsigned int index, char nvlink[OSP_REPORT_WORD_BYTES])
{
	struct osp_nvml_fabric fabric = {.version = OSP_NVML_FABRIC_VERSION};
	osp_nvml_device device;
	int state = osp_nvml_open(index, &device);

	strcpy(nvlink, OSP_REPORT_NONE);
	if (state == OSP_NVML_OK)
		state = osp_nvml_fabric(device, &fabric);
	if (osp_nvml_lacks(state))
		return OSP_NVLINK_KNOWN;
	if (state != OSP_NVML_OK)
		return OSP_NVLINK_SILENT;
	if (fabric.state == OSP_NVML_FABRIC_COMPLETED && fabric.status == OSP_NVML_OK)
		osp_report_nvlink(nvlink, fabric.cluster_uuid, fabric.clique);
	else if (fabric.state && fabric.state != OSP_NVML_FABRIC_COMPLETED)
		return OSP_NVLINK_PENDING;
	return OSP_NVLINK_KNOWN;
}

/* Asks all GPUs, which must agree. The gravest answer counts. */
static void ask_gpus(struct answer *answer)
{
	char nvlink[OSP_REPORT_WORD_BYTES];
	unsigned int count = 0;

	if (osp_nvml_ready() != OSP_NVML_OK || osp_nvml_count(&count) != OSP_NVML_OK)
		return;
	answer->kind = OSP_NVLINK_KNOWN;
	for (unsigned int i = 0; i < count; i++) {
		enum osp_own_nvlink kind = ask_gpu(i, nvlink);

		if (i && kind == OSP_NVLINK_KNOWN && strcmp(nvlink, answer->nvlink) != 0)
			kind = OSP_NVLINK_APART;
		if (!i)
			strcpy(answer->nvlink, nvlink);
		if (kind > answer->kind)
			answer->kind = kind;
	}
	if (answer->kind != OSP_NVLINK_KNOWN || !count)
		strcpy(answer->nvlink, OSP_REPORT_NONE);
	if (answer->kind == OSP_NVLINK_SILENT)
		*answer->nvlink = '\0';
}

/* --- NVLink, in the parent -------------------------------------------------------------------- */

static bool read_answer(int file, uint64_t until_ms, struct answer *answer)
{
	struct pollfd wait = {.fd = file, .events = POLLIN};
	uint64_t now_ms = osp_now_ms();

	return poll(&wait, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0) > 0 &&
	       read(file, answer, sizeof(*answer)) == (ssize_t)sizeof(*answer);
}

static bool has_gpus(const char *root)
{
	struct osp_check_context context;
	struct osp_pci_gpus gpus;

	osp_check_context_set(&context, root, NULL);
	osp_pci_gpus(&context, &gpus);
	return gpus.count > 0;
}

enum osp_own_nvlink osp_own_nvlink(const char *root, unsigned int limit_ms,
				   struct osp_place_report *report)
{
	struct answer answer = {.kind = OSP_NVLINK_SILENT};
	uint64_t until_ms = osp_now_ms() + limit_ms;
	pid_t child;
	int file;

	strcpy(report->nvlink, OSP_REPORT_NONE);
	if (!has_gpus(root))
		return OSP_NVLINK_KNOWN;
	child = osp_child_start(&file);
	if (child == 0) {
		ask_gpus(&answer);
		_exit(osp_write_all(file, &answer, sizeof(answer)) ? 0 : 1);
	}
	if (child > 0) {
		if (!read_answer(file, until_ms, &answer))
			answer = (struct answer){.kind = OSP_NVLINK_SILENT};
		close(file);
		osp_child_drop(child);
	}
	answer.nvlink[sizeof(answer.nvlink) - 1] = '\0';
	strcpy(report->nvlink, answer.nvlink);
	return answer.kind;
}

/* --- Neuron ----------------------------------------------------------------------------------- */

#define NEURON_FOLDER "sys/class/neuron_device"
#define SERVER_ID     "server_id_"

/* Returns whether the driver names a server: -1 and all ones are none. */
static bool is_server(const char *word)
{
	const char *digits = strncmp(word, "0x", 2) ? word : word + 2;

	if (!*digits || strlen(word) > 32 || strspn(digits, "fF") == strlen(digits))
		return false;
	for (const char *at = word; *at; at++) {
		if (!isalnum((unsigned char)*at))
			return false;
	}
	return true;
}

void osp_own_neuron(const char *root, struct osp_place_report *report)
{
	char server[OSP_REPORT_WORD_BYTES];
	unsigned long largest = 0;
	struct osp_names names;

	strcpy(report->neuron, OSP_REPORT_NONE);
	if (!osp_root_list(root, &names, NEURON_FOLDER))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.names[i];
		unsigned long size;
		char *end;

		if (strncmp(name, SERVER_ID, strlen(SERVER_ID)) != 0)
			continue;
		size = strtoul(name + strlen(SERVER_ID), &end, 10);
		if (*end || size <= largest || size > 1024 ||
		    !osp_root_read(root, server, sizeof(server), NEURON_FOLDER "/%s", name) ||
		    !is_server(server))
			continue;
		largest = size;
		snprintf(report->neuron, sizeof(report->neuron), "%lu.%.32s", size, server);
	}
	osp_names_free(&names);
}
