/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variables.h - which environment variables each release of NCCL, aws-ofi-nccl, libfabric, PyTorch
 * and UCX reads
 *
 *	families:
 *	  - prefix: NCCL_              # every variable that begins so belongs to this family
 *	    of: NCCL                   # the program, for people
 *	    fact: nccl                 # the fact (lib/env/facts.h) that holds its version; may be
 *				       missing
 *	    releases: "2.3.5 to 2.30.7"  # the releases whose source was read
 *	    source: https://...
 *	    others: [NCCL_VERSION, "NCCL_TESTS*"]  # names and patterns that another program reads
 *	    names:
 *	      NCCL_ALGO: ">=2.5.6"     # the releases that read it; "": all of them
 *
 * Strict, as rules.h: an unknown key, a range that cannot be parsed or a name of another prefix
 * refuses the folder, with file, line and column. A family replaces an earlier one of the same
 * prefix. Of two families whose prefixes both fit, the longer prefix counts (OFI_NCCL_ is no
 * NCCL_).
 *
 * For the command only: slurmstepd reads none of this. A finished table never changes: any number
 * of threads may use it.
 */
#ifndef OSP_VARIABLES_H
#define OSP_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/env/facts.h"

struct osp_variables;

/* Reads `data`/variables and then `site`/variables.d, which overrides it (`site` NULL: none; a
 * missing folder counts as empty). Returns NULL with `error` set if it fails. */
struct osp_variables *osp_variables_read(const char *data, const char *site,
					 struct osp_error *error);

struct osp_variables *osp_variables_new(struct osp_error *error);
void osp_variables_free(struct osp_variables *variables); /* NULL is allowed */

/* Adds the families of one file. Returns 0, or -1 with `error` set: the table may then only be
 * freed. */
int osp_variables_add(struct osp_variables *variables, const char *file, const char *text,
		      size_t text_bytes, struct osp_error *error);

enum osp_variable_state {
	OSP_VARIABLE_FOREIGN, /* in no family: nothing is known about it */
	OSP_VARIABLE_READ,    /* some release reads it, and this one may */
	OSP_VARIABLE_MISSED,  /* the family's release here does not read it, or the newest does not
			       */
	OSP_VARIABLE_UNKNOWN  /* no release of its family reads it */
};

struct osp_variable_judgement {
	enum osp_variable_state state;
	const char *of;	      /* "NCCL" */
	const char *releases; /* "2.3.5 to 2.30.7" */
	const char *source;
	const char *nearest; /* unknown: the name that was probably meant; NULL: there is none */
	const char *range;   /* missed: the releases that read it, ">=2.4.2,<2.5.6" */
};

/* Judges one variable by its name, in one pass over its family's names. */
void osp_variables_judge(const struct osp_variables *variables, const struct osp_facts *facts,
			 const char *name, struct osp_variable_judgement *judgement);

#endif
