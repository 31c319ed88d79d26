/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_print.h - decisions and findings, for people and as JSON
 *
 * One thread.
 */
#ifndef OSP_ENV_PRINT_H
#define OSP_ENV_PRINT_H

#include <jansson.h>

#include "lib/env_lint.h"
#include "lib/rules.h"
#include "lib/text.h"
#include "lib/node_facts.h"

/* What `onespine env` looked at. */
struct osp_env_view {
	const struct osp_node *node; /* NULL: a named type, not this node */
	const struct osp_instance *instance;
	const struct osp_facts *facts;
};

/* The type and the facts, a line each. */
void osp_env_print_facts(const struct osp_env_view *view, struct osp_text *text);
void osp_env_print_decisions(const struct osp_env_view *view, const struct osp_decisions *decisions,
			     struct osp_text *text);
/* "FILE:LINE:COLUMN: fatal: NAME=VALUE: reason", then cure and source. */
void osp_env_print_findings(const struct osp_env_view *view, const char *file,
			    const struct osp_findings *findings, struct osp_text *text);

json_t *osp_env_json_view(const struct osp_env_view *view);
json_t *osp_env_json_decisions(const struct osp_decisions *decisions);
json_t *osp_env_json_findings(const char *file, const struct osp_findings *findings);

#endif
