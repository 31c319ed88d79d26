/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_flow.h - which commands of a shell script may not run, and which start programs
 *
 * Follows if, case, loops, groups, subshells, functions and lists with && and ||, command by
 * command, without evaluating anything. A command in a branch, after a test with && or after || may
 * not run; nor may one in the body of a loop, unless the loop's words are given or its condition is
 * `true`. The branch after `if true` runs. The body of a function counts as run. Blocks nested more
 * than OSP_FLOW_DEPTH_MAX deep are not told apart.
 *
 * For script.c. Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_FLOW_H
#define OSP_SCRIPT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/env/shell_text.h"

#define OSP_FLOW_DEPTH_MAX 64

struct osp_flow_block;

/* The place of the next command. */
struct osp_flow_place {
	uint32_t block; /* 0: the script itself */
	bool optional;	/* it follows a test with &&, or || */
	bool listed;	/* && or || came last, so that the end of a line ends no list */
	bool tested;	/* the command before was a test */
	bool function;	/* a function's name came last */
	bool piped;	/* a | came before, so that what it sets ends with it */
	bool apart;	/* | or & comes after, with the same effect */
	uint32_t own;	/* the block of this command alone; 0: not made */
};

/* Begins zeroed. */
struct osp_flow {
	struct osp_flow_block *blocks; /* each keeps the index of the one around it */
	uint32_t count, room;
	uint32_t parted; /* the block that the command ends before a | or &, so that it was a
			    subshell; 0: none */
	uint32_t looped; /* the loop that the command ends; 0: none */
	size_t starts;	 /* programs so far, of whom the caller keeps count */
	struct osp_flow_place at;
	bool failed; /* memory ran out */
};

/* Notes a mark between commands. */
void osp_flow_mark(struct osp_flow *flow, enum osp_shell_mark mark);

/* Notes the reserved words with which a command begins. Returns how many there are. */
size_t osp_flow_command(struct osp_flow *flow, const struct osp_shell_word *words, size_t count);

/* Begins and ends a text that is read within the script; `apart`: in a process of its own. */
struct osp_flow_place osp_flow_enter(struct osp_flow *flow, bool apart);
void osp_flow_leave(struct osp_flow *flow, struct osp_flow_place before);

/* Returns the block of the command that was noted last. */
uint32_t osp_flow_block(struct osp_flow *flow);

/* Returns whether the command that was noted last may not run. */
bool osp_flow_now_may_not_run(const struct osp_flow *flow);

/* Returns whether that command runs whenever the text does in which it is (osp_flow_enter()). */
bool osp_flow_is_sure_in_text(const struct osp_flow *flow);

/* Returns whether that command may run again after others that follow it in the text: in the next
 * round of a loop (`within` gets the outermost one), or when its function is called (then 0: after
 * any). */
bool osp_flow_runs_again(const struct osp_flow *flow, uint32_t *within);

/* Returns whether that command is the words of an array. */
bool osp_flow_in_array(const struct osp_flow *flow);

/* Returns whether commands of the block may not run. */
bool osp_flow_may_not_run(const struct osp_flow *flow, uint32_t block);

/* Returns whether both blocks are in the same function, or both in none. */
bool osp_flow_together(const struct osp_flow *flow, uint32_t one, uint32_t other);

/* Returns whether `inner` is `outer` or lies in it. */
bool osp_flow_within(const struct osp_flow *flow, uint32_t inner, uint32_t outer);

/* Returns the innermost subshell around the block, or block before or after a | or before a &, in
 * its function; 0: there is none. */
uint32_t osp_flow_subshell(const struct osp_flow *flow, uint32_t block);

/* Notes the number of a program that the command may start, for the processes around it. */
void osp_flow_note_start(struct osp_flow *flow, size_t number);

/* Returns whether the block lies in a process of its own (a subshell, $(...), bash -c) that starts
 * no program with a higher number than this. */
bool osp_flow_starts_none(const struct osp_flow *flow, uint32_t block, size_t number);

/* Returns the number of the last program that the process around the block starts; `all` if that is
 * the script's own. */
size_t osp_flow_last_start(const struct osp_flow *flow, uint32_t block, size_t all);

/* Returns the number of programs that were started before the loop. */
size_t osp_flow_starts_before(const struct osp_flow *flow, uint32_t loop);

/* Returns whether the block lies in the body of the loop and in no process or function of its own
 * there, so that what it sets lasts to the next round. */
bool osp_flow_lasts_to(const struct osp_flow *flow, uint32_t block, uint32_t loop);

/* Returns whether the block, in the body of the loop, runs in each round. */
bool osp_flow_in_each_round(const struct osp_flow *flow, uint32_t block, uint32_t loop);

/* Returns the outermost block, in its function and subshell, that runs only if this one does
 * too. */
uint32_t osp_flow_as_sure(const struct osp_flow *flow, uint32_t block);

/* Returns whether the command, whose reserved words are skipped, may start a program that reads the
 * environment of a job: any but the shell's builtins and tools that are known not to. */
bool osp_flow_starts_program(const struct osp_flow *flow, const struct osp_shell_word *words,
			     size_t count);

void osp_flow_free(struct osp_flow *flow);

#endif
