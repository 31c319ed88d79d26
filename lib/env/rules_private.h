/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_private.h - the fields of struct osp_rule_set
 *
 * For rules.c, which reads, rules_check.c, rules_decide.c and rules_image.c, and for their tests.
 * Nothing else includes this file.
 */
#ifndef OSP_RULES_PRIVATE_H
#define OSP_RULES_PRIVATE_H

#include "lib/base/arena.h"
#include "lib/base/document.h"
#include "lib/env/rules.h"

struct osp_rule_file {
	struct osp_rule_file *next;
	struct osp_document *document; /* holds the strings */
};

struct osp_rule_set {
	struct osp_arena arena; /* lists, conditions, file names */
	struct osp_rule_file *files;
	struct osp_rule *rules;
	size_t count, room;
	uint32_t top_rank;
	bool begins[256]; /* by character: some rule's variable may begin with it */
	char *image;	  /* of a kept set: holds the strings and lists */
};

/* Adds a rule's variables to `begins`. */
void osp_rules_note_names(struct osp_rule_set *set, const struct osp_rule *rule);

/* Returns whether the rule sets or leaves: only these two decide about a variable, one against the
 * other. */
bool osp_rule_rules(const struct osp_rule *rule);

/* --- for tests -------------------------------------------------------------------------------- */

/*
 * Looks for rules of rank 0 that no type of the catalogue can meet: a misspelt pattern, or a fabric
 * that the named types do not have. Returns 0, or -1 with the first one in `error`.
 */
int osp_rules_reachable(const struct osp_rule_set *rules, const struct osp_catalogue *catalogue,
			struct osp_error *error);

#endif
