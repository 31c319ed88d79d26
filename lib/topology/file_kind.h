/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_kind.h - what a file looks like, to say so if another kind is expected
 *
 * A guess from the first bytes, for error messages; it never decides how a file is read. Any
 * thread, any daemon: no shared state.
 */
#ifndef OSP_FILE_KIND_H
#define OSP_FILE_KIND_H

#include <stddef.h>

enum osp_file_kind {
	OSP_FILE_EMPTY,		/* nothing but blanks and comments */
	OSP_FILE_ONESPINE,	/* onespine.topology */
	OSP_FILE_EC2_TOPOLOGY,	/* describe-instance-topology, ...-capacity-reservation-topology */
	OSP_FILE_EC2_INSTANCES, /* describe-instances */
	OSP_FILE_JSON,
	OSP_FILE_SLURM_TREE,  /* topology.conf of topology/tree */
	OSP_FILE_SLURM_YAML,  /* topology.yaml */
	OSP_FILE_SLURM_BLOCK, /* topology.conf of topology/block */
	OSP_FILE_SLURM_CONF,
	OSP_FILE_CSV,
	OSP_FILE_OTHER,
};

/*
 * The line that osp_write_slurm_topology() writes before the switch that it makes up above all
 * others, and by which osp_read_slurm_topology() recognises this switch.
 */
#define OSP_ROOT_REMARK "# not of the fabric: Slurm warns unless one switch is above all."

/* Guesses the kind. `text` need not be terminated. */
enum osp_file_kind osp_file_kind(const char *text, size_t text_bytes);

/*
 * Returns a kind in words: "a Slurm topology.conf", "JSON from aws ec2 describe-instances", ...;
 * "an unknown file" for OSP_FILE_OTHER.
 */
const char *osp_file_kind_words(enum osp_file_kind kind);

#endif
