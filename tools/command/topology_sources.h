/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_sources.h - what `onespine topology import --from` reads: a row for each form of file
 *
 * SOURCE(word of --from, what it is in --help, fields of struct source in cmd_topology_import.c).
 * The words, their help and the table of readers follow from the rows. Our own form comes last.
 */
#ifndef OSP_TOPOLOGY_SOURCES_H
#define OSP_TOPOLOGY_SOURCES_H

#include "lib/topology/readers.h"

/* clang-format off */
#define OSP_TOPOLOGY_SOURCES(SOURCE)                                                               \
	SOURCE("ec2",                                                                              \
	       "JSON of describe-instance-topology or describe-capacity-reservation-topology",     \
	       .add = osp_import_ec2, .options = OF_EC2)                                           \
	SOURCE("infiniband", "what ibnetdiscover prints, -p too",                                  \
	       .add = osp_import_infiniband, .options = OF_PAGES | OPTION(OSP_OPTION_ADAPTERS),    \
	       .adapter_map = true)                                                                \
	SOURCE("topograph", "its models, or what it makes for Slurm",                              \
	       .read = osp_read_topograph, .blocks = true)                                         \
	SOURCE("slurm", "topology.conf or topology.yaml",                                          \
	       .read = osp_read_slurm_topology, .gaps = osp_slurm_topology_gaps, .blocks = true)   \
	SOURCE("csv", "a host and its switches a line",                                            \
	       .add = osp_import_csv, .options = OF_EC2 | OPTION(OSP_OPTION_COLUMNS))
/* clang-format on */

#endif
