/* SPDX-License-Identifier: GPL-2.0-or-later */
/* components_private.h - what the two ways to look for a start of all components share */
#ifndef OSP_CHOOSE_COMPONENTS_PRIVATE_H
#define OSP_CHOOSE_COMPONENTS_PRIVATE_H

#include "lib/choose/components.h"

/* The starts that are looked for. */
enum osp_joint_when { OSP_JOINT_ANY_TIME, OSP_JOINT_NOW, OSP_JOINT_LATER };

struct osp_joint {
	const struct osp_components_calls *calls;
	const struct osp_components_input *input;
	struct osp_components_choice *choice;
	enum osp_joint_when when;
	bool leaves_out; /* those that may run elsewhere and have no plan */
	bool preempting;

	/* where they are looked for, or are not; NULL: anywhere, or no such place */
	const struct osp_nodeset *within, *without;
	bool as_planned; /* each on the nodes of its plan, if it has one */

	struct osp_nodeset *domain;  /* room for `within` */
	struct osp_nodeset *all;     /* what they would have together */
	struct osp_nodeset *offered; /* in one question */
	struct osp_nodeset *answer;  /* to it */

	bool now_only; /* at the first moment that was asked about */
	bool only_looks;
	bool others_first; /* the others have been asked about before */
	bool recalls;	   /* what was said about the others in earlier calls may be taken */
	bool recalls_all;  /* in this one too */
	bool recalled;	   /* it was */
	uint32_t asked;	   /* questions so far */
	bool ran_out;	   /* a question was left out, for time */
	bool ended;	   /* the call is to look no further */
	bool can_stand;	   /* in the last answer they would keep the promise */
	int64_t start_s;
};

/* Returns how much of the call's time is over. */
int64_t osp_joint_elapsed_ms(const struct osp_joint *joint);

/* Returns whether there is time for a question; for the first one there is. */
bool osp_joint_may_ask(struct osp_joint *joint);

/* Returns whether a component could have these nodes beside what the others have so far. */
bool osp_joint_is_open(struct osp_joint *joint, const struct osp_nodeset *nodes, int64_t start_s);

/* Adds the nodes of a component. */
void osp_joint_add(struct osp_joint *joint, const struct osp_nodeset *nodes, int64_t start_s);

/* Begins with the nodes of those that run or are planned. */
void osp_joint_start(struct osp_joint *joint);

/* Looks in that domain from now on; OSP_NO_DOMAIN: anywhere. */
void osp_joint_look_in(struct osp_joint *joint, uint32_t domain);

/* Asks about a component with the nodes that it may have beside the others, and writes into
 * joint->answer those that it would get. */
bool osp_joint_ask(struct osp_joint *joint, uint32_t component, uint32_t partition, bool now_only,
		   int64_t *start_s);

/* Asks for the own component, without the nodes that the others take if they come first. */
bool osp_joint_ask_for_own(struct osp_joint *joint);

/* --- components_slow.c ------------------------------------------------------------------------ */

/* Returns whether the calls before had too little time. */
bool osp_components_are_slow(const struct osp_components_input *input);

/* Notes that this call had too little. */
void osp_components_ran_out(const struct osp_components_input *input);

/* Returns whether those that may be left out are left out in this round. */
bool osp_components_leave_out(const struct osp_components_input *input);

/* Decides about one call, and goes on where the one before ended. */
bool osp_components_go_on(struct osp_joint *joint);

#endif
