/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * several.h - one or several sources are asked, and what they answer becomes the topology in force
 *
 * Of several, the answer of each is compared with the places that it had reported before, and held
 * for
 * itself: what the others answer counts meanwhile. A source that fails keeps its last places. A
 * node that several report gets its place from the one that is named first. nvlink beside another
 * source is none of these: it adds a level to what that answers. One thread.
 */
#ifndef OSP_SEVERAL_H
#define OSP_SEVERAL_H

#include "host/source/apply.h"
#include "host/source/source.h"
#include "lib/topology/source_words.h"

struct osp_sources {
	const struct osp_source *list[OSP_SOURCES_MAX];
	/* what each reads; "" if it reads no file */
	char files[OSP_SOURCES_MAX][OSP_SOURCE_FILE_BYTES];
	size_t count;
	bool add_nvlink; /* nvlink is named beside the one of the list, and adds a level to it */
	char words[128]; /* "ec2,infiniband" */
};

/* Returns whether they go by what nodes report. */
bool osp_sources_read_reports(const struct osp_sources *sources);

/* Reads the words of sources (lib/topology/source_words.h), each of which this build must have. An
 * error begins with `origin`, as "--from=". 0, or -1 with `error` set. */
int osp_sources_read(const char *origin, const char *names, struct osp_sources *sources,
		     struct osp_error *error);

/*
 * Asks all of them, without any comparison. 0 with the merged topology in `answer`, or -1 with
 * `error` set if one fails. The caller frees `answer` either way.
 */
int osp_sources_ask(const struct osp_sources *sources, const struct osp_source_question *question,
		    struct osp_source_answer *answer, struct osp_error *error);

/*
 * Asks all of them, and puts in force at `path` what is not held (osp_apply_topology(), with
 * `nodes` and `guard` as there). question->previous is what `path` holds. In `answer` is what is in
 * force then. The gravest outcome is returned, with the first such source and its reason in
 * `error`: FAILED, HELD, then APPLIED.
 */
enum osp_applied osp_sources_keep(const struct osp_sources *sources, const char *path,
				  const struct osp_source_question *question,
				  const struct osp_node_list *nodes,
				  const struct osp_topology_guard *guard,
				  struct osp_source_answer *answer,
				  struct osp_topology_change *change, struct osp_error *error);

#endif
