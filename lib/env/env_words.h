/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_words.h - a node's facts, decisions and findings, as people read them
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ENV_WORDS_H
#define OSP_ENV_WORDS_H

#include "lib/base/text.h"
#include "lib/env/env_lint.h"
#include "lib/env/node_facts.h"
#include "lib/env/rules.h"

/* What the words are about. */
struct osp_env_view {
	const struct osp_node *node; /* NULL: a named type, not this node */
	const struct osp_instance *instance;
	const struct osp_facts *facts;
};

/* The type and the facts, a line each. */
void osp_env_print_facts(const struct osp_env_view *view, struct osp_text *text);
void osp_env_print_decisions(const struct osp_env_view *view, const struct osp_decisions *decisions,
			     struct osp_text *text);
/* The same without the rules that ask for what is not known, of which it says how many there
 * are. */
void osp_env_print_decided(const struct osp_env_view *view, const struct osp_decisions *decisions,
			   struct osp_text *text);
/* Prints "FILE:LINE:COLUMN: fatal: NAME=VALUE: reason", then cure and source, for each finding;
 * then one line of what the script leaves unset and --gang-env=auto sets. */
void osp_env_print_findings(const struct osp_env_view *view, const char *file,
			    const struct osp_findings *findings, struct osp_text *text);

#endif
