/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_private.h - what stands behind struct osp_rule_set
 *
 * For rules.c, which reads, rules_check.c, rules_decide.c and rules_kept.c. Nothing else includes
 * this.
 */
#ifndef OSP_RULES_PRIVATE_H
#define OSP_RULES_PRIVATE_H

#include "lib/base/arena.h"
#include "lib/base/document.h"
#include "lib/env/rules.h"

struct osp_rule_file {
	struct osp_rule_file *next;
	struct osp_document *document; /* the strings live in it */
};

struct osp_rule_set {
	struct osp_arena arena; /* lists, conditions, file names */
	struct osp_rule_file *files;
	struct osp_rule *rules;
	size_t count, room;
	uint32_t top_rank;
	bool begins[256]; /* by character: a rule's variable may begin with it */
	char *image;	  /* of a kept set: what the strings and lists live in */
};

/* Adds a rule's variables to `begins`. */
void osp_rules_note_names(struct osp_rule_set *set, const struct osp_rule *rule);

/* True where set or leave: the two that decide of a variable, one against another. */
bool osp_rule_rules(const struct osp_rule *rule);

#endif
