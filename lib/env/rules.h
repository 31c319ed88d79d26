/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.h - which environment variables a job needs, which do harm, and why
 *
 *	rules:
 *	  - id: E7
 *	    when: {vendor: nvidia, fabric: efa, rdma_read: no}
 *	    action: unset
 *	    variable: FI_EFA_USE_DEVICE_RDMA
 *	    is: ["1", "true", "yes", "on"]
 *	    severity: fatal
 *	    reason: libfabric aborts where the device cannot read remote memory
 *	    cure: leave it unset
 *	    source: https://...
 *
 * when      facts (lib/env/facts.h), all of which must hold; none: always. Versions and numbers
 *           take a range (">=1.16,<1.18"), flags yes or no, words patterns, one of which must
 *           match (lib/base/glob.h)
 * action    set    the variable gets `value` unless the user has it
 *           leave  the variable is left to what sets it best; no rule below sets it
 *           warn   the user is warned; without `variable`, about the facts themselves
 *           unset  the user is advised to remove it
 * variable  a name or a list of names; for warn and unset also patterns
 * value     for set: text with ${fact} for what only the node knows
 * is, not   for warn and unset: the values that are meant (patterns); default: all
 * severity  fatal (the job dies), harmful, obsolete, missing, note
 *
 * A rule whose condition asks for an unknown fact sets nothing and warns about nothing, but says
 * so. Each rule has a rank: 0 for ours; each file of a site's folder ranks above all before it. A
 * rule of a higher rank replaces that of the same id, and of two rules that hold for one variable
 * the higher one decides. The user's own value overrides both.
 *
 * Refuses, with file, line and column and the nearest right word: unknown keys and facts, an id
 * given twice, versions that cannot be parsed, and two rules of one rank that contradict each
 * other.
 *
 * A finished set never changes: any number of threads may use it.
 */
#ifndef OSP_RULES_H
#define OSP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/env/catalogue.h"
#include "lib/env/facts.h"

enum osp_rule_action { OSP_RULE_SET, OSP_RULE_LEAVE, OSP_RULE_WARN, OSP_RULE_UNSET };

enum osp_severity {
	OSP_SEVERITY_FATAL,
	OSP_SEVERITY_HARMFUL,
	OSP_SEVERITY_OBSOLETE,
	OSP_SEVERITY_MISSING,
	OSP_SEVERITY_NOTE
};

/* Words in the order in which they were given; none: all. */
struct osp_word_list {
	const char *const *words;
	size_t count;
};

struct osp_condition {
	enum osp_fact_id fact;
	struct osp_range range;	    /* of a version or a number */
	struct osp_word_list words; /* of a word: patterns, one of which must match */
	bool flag;
	const char *text; /* as written: "nccl >=2.19", "instance p5.*, p5e.*" */
};

struct osp_rule {
	const char *id;
	const char *file;
	int line;
	int column;
	uint32_t rank;
	enum osp_rule_action action;
	enum osp_severity severity;
	struct osp_word_list variables;
	const char *value; /* of set, else NULL */
	struct osp_word_list is;
	struct osp_word_list is_not;
	const struct osp_condition *conditions;
	size_t condition_count;
	const char *reason;
	const char *cure; /* NULL for none */
	const char *source;
};

struct osp_rule_set;

struct osp_rule_set *osp_rules_new(struct osp_error *error);
void osp_rules_free(struct osp_rule_set *rules); /* NULL is allowed */

/* Add rules like osp_catalogue_add() and osp_catalogue_add_folder(). */
int osp_rules_add(struct osp_rule_set *rules, uint32_t rank, const char *file, const char *text,
		  size_t text_bytes, struct osp_error *error);
int osp_rules_add_folder(struct osp_rule_set *rules, const char *folder, int site,
			 struct osp_error *error);

/* Refuses contradictions, once all rules are added. Returns 0, or -1 with `error` set. */
int osp_rules_finish(const struct osp_rule_set *rules, struct osp_error *error);

/* Reads `data`/rules and `site`/rules.d like osp_catalogue_read(), and finishes the set. */
struct osp_rule_set *osp_rules_read(const char *data, const char *site, struct osp_error *error);

/* Removes rules that cannot hold, whatever else becomes known; the decisions stay the same. */
void osp_rules_narrow(struct osp_rule_set *rules, const struct osp_facts *facts);

/* Removes the rules that set nothing: those that warn or unset, and those that leave a variable
 * that no rule of a lower rank sets. Removes reason, source and cure from the other rules. The
 * remaining rules set the same variables as before. */
void osp_rules_narrow_to_set(struct osp_rule_set *rules);

/* Returns whether each rule holds for both or for neither, and would set the same value. If so, the
 * same variables lead to the same settings and the same reports. */
bool osp_rules_agree(const struct osp_rule_set *rules, const struct osp_facts *one,
		     const struct osp_facts *other);

/* Returns whether a rule asks for this fact, in its condition or its value. */
bool osp_rules_ask(const struct osp_rule_set *rules, enum osp_fact_id fact);

/* Returns whether a rule is about this variable. */
bool osp_rules_name(const struct osp_rule_set *rules, const char *name);

/* Returns whether a rule would set it if its condition held. */
bool osp_rules_set(const struct osp_rule_set *rules, const char *name);

const char *osp_severity_name(enum osp_severity severity);

/* Returns whether the facts meet the rule's condition. If that is unknown, `unknown` gets the first
 * unknown fact. */
enum osp_truth osp_rule_holds(const struct osp_rule *rule, const struct osp_facts *facts,
			      enum osp_fact_id *unknown);

/* --- deciding --------------------------------------------------------------------------------- */

/* A variable that is set already. */
struct osp_variable {
	const char *name;
	const char *value;  /* NULL: unknown */
	bool unexpanded;    /* `value` holds what a shell still substitutes: $X, $(...) */
	bool extends;	    /* and that is only the variable's own earlier value */
	const char *origin; /* "environment", "/etc/nccl.conf"; for words only */
};

enum osp_rule_outcome {
	OSP_OUTCOME_SET,    /* variable gets value */
	OSP_OUTCOME_KEPT,   /* a rule would set it, but the user has set it */
	OSP_OUTCOME_LEFT,   /* nobody sets it, for the rule's reason */
	OSP_OUTCOME_WARNED, /* about the user's value, or about the facts (no variable) */
	OSP_OUTCOME_UNSET,  /* the user's value should go */
	OSP_OUTCOME_OPEN    /* not decided, because the fact `unknown` is not known */
};

struct osp_decision {
	enum osp_rule_outcome outcome;
	const struct osp_rule *rule;
	const char *variable; /* NULL: none */
	/* set, kept: the value here, or what it would be (kept: NULL if it needs the fact
	 * `unknown`); open: the rule's text */
	const char *value;
	const struct osp_variable *user; /* kept, warned, unset, open: the user's; NULL: none */
	enum osp_fact_id unknown;	 /* open, kept; OSP_FACT_COUNT: the user's value */
};

struct osp_decisions;

/*
 * Decides what all rules say about these facts and variables, in the order of the rules, and for
 * each rule in the order of its variables, then of the user's. `variables` and `rules` must outlive
 * the result. Returns NULL with `error` set if memory ran out. An open decision with a `user` is a
 * warning or a removal whose condition is not known to hold.
 */
struct osp_decisions *osp_rules_decide(const struct osp_rule_set *rules,
				       const struct osp_facts *facts,
				       const struct osp_variable *variables, size_t variable_count,
				       struct osp_error *error);
void osp_decisions_free(struct osp_decisions *decisions); /* NULL is allowed */
size_t osp_decisions_count(const struct osp_decisions *decisions);
const struct osp_decision *osp_decisions_at(const struct osp_decisions *decisions, size_t index);

#endif
