/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kind.h - which nodes are alike enough for one gang
 *
 * Two nodes are of one kind if they have the same GPU types and the same EC2-like instance type.
 * How many GPUs a node has does not matter: a node with 7 of its 8 left is still of its kind.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_KIND_H
#define OSP_KIND_H

#include <stddef.h>

#define OSP_KIND_BYTES 128

/*
 * Writes a node's kind as words, from Slurm's own strings: `gres` as configured
 * ("gpu:h100:8(S:0-1),shard:64") and its `features` ("static,p5.48xlarge,gpu"); either may be NULL.
 * The kind is "gpu:h100 p5.48xlarge", or "" for a node that has neither. Cuts it at `buffer_bytes`.
 * Returns `buffer`.
 *
 * A feature counts as an instance type if it reads like one of EC2's: a family (a lower-case
 * letter, then letters, digits and '-'), a dot, and one of EC2's sizes: nano, micro, small, medium,
 * large, xlarge, metal, a number before xlarge, or metal- before a number and xl ("p5.48xlarge",
 * "p6e-gb200.36xlarge", "c7i.metal-24xl"; AWS's list of instance types). "cuda12.4" and "rhel9.4"
 * are none.
 */
const char *osp_kind_of(const char *gres, const char *features, char *buffer, size_t buffer_bytes);

#endif
