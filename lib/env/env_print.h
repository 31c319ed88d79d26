/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_print.h - prints a node's facts, decisions and findings for people
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ENV_PRINT_H
#define OSP_ENV_PRINT_H

#include "lib/base/text.h"
#include "lib/env/env_lint.h"
#include "lib/env/node_facts.h"
#include "lib/env/rules.h"

/* The subject of the words. */
struct osp_env_view {
	const struct osp_node *node; /* NULL: a named type, not this node */
	const struct osp_instance *instance;
	const struct osp_facts *facts;
};

/* Prints the type, then the facts. */
void osp_env_print_facts(const struct osp_env_view *view, struct osp_text *text);
void osp_env_print_decisions(const struct osp_env_view *view, const struct osp_decisions *decisions,
			     struct osp_text *text);
/* Does the same without the rules that ask for unknown facts, of which it prints only the
 * number. */
void osp_env_print_decided(const struct osp_env_view *view, const struct osp_decisions *decisions,
			   struct osp_text *text);
/* Prints "FILE:LINE:COLUMN: fatal: NAME=VALUE: reason", then cure and source, for each finding;
 * then one line with the variables that the script leaves unset and --gang-env=auto sets. */
void osp_env_print_findings(const struct osp_env_view *view, const char *file,
			    const struct osp_findings *findings, struct osp_text *text);

#endif
