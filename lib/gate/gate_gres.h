/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_gres.h - which GPUs a job or a node has, in Slurm's words for generic resources
 *
 * Reads what slurmctld says: of a node "gpu:h100:8(S:0-1)", of what a job has on a node
 * "gpu:h100:8(IDX:0-7)" or, if Slurm has counted the GPUs and not chosen them, "gpu:h100(CNT:8)",
 * and of what a job asked for "gres:gpu:8", from 23.11 on "gres/gpu:8". NULL is no text. Any
 * thread, any daemon.
 */
#ifndef OSP_GATE_GRES_H
#define OSP_GATE_GRES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns how many GPUs a node has, or a job on a node, of all types together. */
uint32_t osp_gate_gres_gpus(const char *gres);

/* Returns whether a request or an allocation ("cpu=8,gres/gpu=8") names GPUs. */
bool osp_gate_gres_names_gpus(const char *tres);

#endif
