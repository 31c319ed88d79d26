/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_flow.c - which commands of a shell script may not run, and which start programs */
#include "lib/env/script_flow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"

enum kind { SCRIPT, IF, LOOP, CASE, CLAUSE, GROUP, SUBSHELL, ARRAY, FUNCTION };

struct osp_flow_block {
	enum kind kind;
	uint32_t parent, function;
	uint32_t depth;
	bool may_not_run;
	bool doubtful; /* it may not run though the block around it does */
	bool sure;     /* a loop whose body runs at least once, an `if` whose condition is true */
	bool process;  /* it is a process of its own though no subshell: $(...), bash -c, a group
			  before or after a pipe */
	size_t last_start; /* of a process: the number of the last program that it starts */
	size_t starts;	   /* of a loop: the programs before it */
};

static const struct osp_flow_block script = {.kind = SCRIPT};

static const struct osp_flow_block *block_at(const struct osp_flow *flow, uint32_t index)
{
	return index ? &flow->blocks[index - 1] : &script;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Adds a block within the present one, and returns it; the present one if there are too many. */
static uint32_t add_block(struct osp_flow *flow, enum kind kind, bool may_not_run)
{
	const struct osp_flow_block *now = block_at(flow, flow->at.block);
	struct osp_flow_block block = {.kind = kind,
				       .parent = flow->at.block,
				       .function = now->function,
				       .depth = now->depth + 1,
				       .doubtful = may_not_run,
				       .may_not_run = now->may_not_run || may_not_run};

	if (block.depth > OSP_FLOW_DEPTH_MAX)
		return flow->at.block;
	if (osp_make_room((void **)&flow->blocks, &flow->room, flow->count,
			  sizeof(*flow->blocks))) {
		flow->failed = true;
		return flow->at.block;
	}
	flow->blocks[flow->count++] = block;
	if (kind == FUNCTION)
		flow->blocks[flow->count - 1].function = flow->count;
	return flow->count;
}

static void push(struct osp_flow *flow, enum kind kind, bool may_not_run)
{
	uint32_t block = add_block(flow, kind, may_not_run);

	if (block != flow->at.block && kind != CLAUSE)
		flow->blocks[block - 1].process = flow->at.piped;
	flow->at.block = block;
}

/* Returns the innermost block of that kind around the next command; 0 if there is none. */
static uint32_t innermost(const struct osp_flow *flow, enum kind kind)
{
	for (uint32_t at = flow->at.block; at; at = block_at(flow, at)->parent) {
		if (block_at(flow, at)->kind == kind)
			return at;
	}
	return 0;
}

static void pop(struct osp_flow *flow, enum kind kind)
{
	uint32_t at = innermost(flow, kind);

	if (!at)
		return;
	flow->at.block = block_at(flow, at)->parent;
	if (!flow->at.apart || kind == FUNCTION || block_at(flow, at)->process)
		return;
	flow->blocks[at - 1].process = true;
	flow->parted = at;
}

/* Ends the innermost block of that kind, or the function within it. */
static void pop_body(struct osp_flow *flow, enum kind kind)
{
	uint32_t at = innermost(flow, kind), function = innermost(flow, FUNCTION);

	pop(flow, function > at ? FUNCTION : kind);
}

/* Begins the next clause of the innermost block of that kind. */
static void next_clause(struct osp_flow *flow, enum kind kind, bool may_not_run)
{
	uint32_t at = innermost(flow, kind);

	if (!at)
		return;
	flow->at.block = at;
	push(flow, CLAUSE, may_not_run);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void end_list(struct osp_flow *flow)
{
	if (!flow->at.listed)
		flow->at.optional = flow->at.piped = false;
}

static void begin_subshell(struct osp_flow *flow)
{
	if (block_at(flow, flow->at.block)->kind == CASE)
		return; /* (PATTERN) */
	push(flow, flow->at.function ? FUNCTION : SUBSHELL, flow->at.optional);
	flow->at.function = flow->at.optional = flow->at.listed = false;
}

static void end_bracket(struct osp_flow *flow)
{
	enum kind kind = block_at(flow, flow->at.block)->kind;

	if (kind == CASE)
		push(flow, CLAUSE, true);
	else if (kind == ARRAY)
		pop(flow, ARRAY);
	else
		pop_body(flow, SUBSHELL);
	flow->at.tested = kind == ARRAY;
}

void osp_flow_mark(struct osp_flow *flow, enum osp_shell_mark mark)
{
	if (block_at(flow, flow->at.block)->kind == CASE &&
	    (mark == OSP_SHELL_APART || mark == OSP_SHELL_PIPE))
		return; /* PATTERN|PATTERN */
	flow->at.apart = mark == OSP_SHELL_APART;
	switch (mark) {
	case OSP_SHELL_APART:
		break;
	case OSP_SHELL_END:
		end_list(flow);
		break;
	case OSP_SHELL_AND:
		flow->at.optional |= flow->at.tested;
		flow->at.listed = true;
		flow->at.piped = false;
		break;
	case OSP_SHELL_OR:
		flow->at.optional = flow->at.listed = true;
		flow->at.piped = false;
		break;
	case OSP_SHELL_PIPE:
		flow->at.piped = true;
		break;
	case OSP_SHELL_TAKES:
		break;
	case OSP_SHELL_OPEN:
	case OSP_SHELL_BODY:
		begin_subshell(flow);
		break;
	case OSP_SHELL_ARRAY:
		push(flow, ARRAY, false);
		break;
	case OSP_SHELL_BODY_END:
		pop_body(flow, SUBSHELL);
		flow->at = (struct osp_flow_place){.block = flow->at.block};
		break;
	case OSP_SHELL_CLOSE:
		end_bracket(flow);
		break;
	case OSP_SHELL_CASE_END:
		if (innermost(flow, CASE))
			flow->at.block = innermost(flow, CASE);
		flow->at.optional = flow->at.listed = false;
		break;
	case OSP_SHELL_FUNCTION:
		flow->at.function = true;
		break;
	}
}

/* --- reserved words --------------------------------------------------------------------------- */

static const char *const yes[] = {"true", ":", NULL};

/* Returns whether the word is what `seq` prints of given numbers, or {1..$N}. */
static bool is_count(const char *word)
{
	if (!strncmp(word, "$(seq ", 6) || !strncmp(word, "`seq ", 5))
		return strspn(word + 5, " 0123456789)`") == strlen(word + 5);
	return !strncmp(word, "{1..$", 5);
}

/* Returns whether a loop over these words runs: one is given, not what a shell makes of it. */
static bool has_given_word(const struct osp_shell_word *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (words[i].unexpanded ? is_count(words[i].text) : !strpbrk(words[i].text, "*?["))
			return true;
	}
	return false;
}

/* Notes whether the last command of an `if` is `true`; `sole`: && and || do not change its end. */
static void note_condition(struct osp_flow *flow, const struct osp_shell_word *words, size_t count,
			   bool sole)
{
	if (block_at(flow, flow->at.block)->kind == IF)
		flow->blocks[flow->at.block - 1].sure =
			sole && count == 1 && osp_shell_is_one_of(words[0].text, yes);
}

/* Begins a loop; `words` are those after its reserved word. */
static void begin_loop(struct osp_flow *flow, const char *how, const struct osp_shell_word *words,
		       size_t count)
{
	static const char *const no[] = {"false", NULL};
	bool each = !strcmp(how, "for") || !strcmp(how, "select"), sure;

	if (each) /* for ((...)) has no words here, and is written to run */
		sure = !count || (count > 2 && has_given_word(words + 2, count - 2));
	else
		sure = count == 1 && osp_shell_is_one_of(words[0].text, *how == 'w' ? yes : no);
	push(flow, LOOP, flow->at.optional);
	if (block_at(flow, flow->at.block)->kind != LOOP)
		return;
	flow->blocks[flow->at.block - 1].sure = sure;
	flow->blocks[flow->at.block - 1].starts = flow->starts;
}

/* Notes one reserved word. Returns how many words it takes; 0: it is none. */
static size_t take_reserved(struct osp_flow *flow, const struct osp_shell_word *words, size_t count)
{
	static const char *const loops[] = {"for", "while", "until", "select", NULL};
	static const char *const clauses[] = {"then", "elif", "else", NULL};
	const char *word = words[0].text;
	uint32_t loop, condition;

	if (words[0].unexpanded)
		return 0;
	if (!strcmp(word, "if")) {
		push(flow, IF, flow->at.optional);
	} else if (osp_shell_is_one_of(word, clauses)) {
		condition = innermost(flow, IF);
		next_clause(flow, IF,
			    strcmp(word, "then") != 0 || !block_at(flow, condition)->sure);
		if (condition)
			flow->blocks[condition - 1].sure = false; /* an elif may follow */
	} else if (!strcmp(word, "fi")) {
		pop(flow, IF);
	} else if (osp_shell_is_one_of(word, loops)) {
		begin_loop(flow, word, words + 1, count - 1);
		if (*word == 'f' || *word == 's')
			return count;
	} else if (!strcmp(word, "do")) {
		loop = innermost(flow, LOOP);
		next_clause(flow, LOOP, !block_at(flow, loop)->sure);
	} else if (!strcmp(word, "done")) {
		flow->looped = innermost(flow, LOOP);
		pop(flow, LOOP);
	} else if (!strcmp(word, "case")) {
		push(flow, CASE, flow->at.optional);
		return count;
	} else if (!strcmp(word, "esac")) {
		pop(flow, CASE);
	} else if (!strcmp(word, "{")) {
		push(flow, flow->at.function ? FUNCTION : GROUP, flow->at.optional);
		flow->at.function = false;
	} else if (!strcmp(word, "}")) {
		pop_body(flow, GROUP);
	} else if (!strcmp(word, "function")) {
		flow->at.function = true;
		return count > 1 ? 2 : 1;
	} else if (!strcmp(word, "time")) {
		return count > 1 && !strcmp(words[1].text, "-p") ? 2 : 1;
	} else if (strcmp(word, "!") != 0) {
		return 0;
	}
	/* the list begins anew within, and goes on after the end */
	flow->at.optional = flow->at.listed = flow->at.piped = false;
	return 1;
}

static bool is_test(const struct osp_shell_word *words, size_t count)
{
	static const char *const tests[] = {"[",    "[[",    "]",	"]]",	      "test",
					    "grep", "egrep", "command", "type",	      "which",
					    "hash", "false", "let",	"nvidia-smi", NULL};

	return count && (osp_shell_is_one_of(osp_shell_base_name(words[0].text), tests) ||
			 osp_shell_is_one_of(words[count - 1].text, tests));
}

size_t osp_flow_command(struct osp_flow *flow, const struct osp_shell_word *words, size_t count)
{
	enum kind kind = block_at(flow, flow->at.block)->kind;
	bool negated = false, listed = flow->at.listed;
	size_t at = 0, taken;

	flow->at.own = flow->parted = flow->looped = 0;
	if (kind == ARRAY)
		return 0;
	if (kind == CASE && strcmp(words[0].text, "esac") != 0)
		return count; /* patterns */
	flow->at.listed = false;
	while (at < count && (taken = take_reserved(flow, words + at, count - at))) {
		negated |= !strcmp(words[at].text, "!");
		at += taken;
	}
	flow->at.tested = negated || is_test(words + at, count - at);
	note_condition(flow, words + at, count - at, !negated && !listed);
	return at;
}

struct osp_flow_place osp_flow_enter(struct osp_flow *flow, bool apart)
{
	struct osp_flow_place before = flow->at;

	flow->at = (struct osp_flow_place){.block = osp_flow_block(flow)};
	if (apart) {
		uint32_t around = flow->at.block;

		push(flow, FUNCTION, false);
		if (flow->at.block != around)
			flow->blocks[flow->at.block - 1].process = true;
	}
	return before;
}

void osp_flow_leave(struct osp_flow *flow, struct osp_flow_place before)
{
	flow->at = before;
}

/* --- asking ----------------------------------------------------------------------------------- */

uint32_t osp_flow_block(struct osp_flow *flow)
{
	struct osp_flow_place *at = &flow->at;
	bool alone = at->piped || at->apart;

	if (!at->optional && !alone)
		return at->block;
	if (!at->own)
		at->own = add_block(flow, alone ? SUBSHELL : GROUP, at->optional);
	return at->own;
}

bool osp_flow_now_may_not_run(const struct osp_flow *flow)
{
	return flow->at.optional || block_at(flow, flow->at.block)->may_not_run;
}

bool osp_flow_is_sure_in_text(const struct osp_flow *flow)
{
	uint32_t block = osp_flow_as_sure(flow, flow->at.block);

	return !flow->at.optional && !flow->at.piped && !flow->at.apart &&
	       (!block || block_at(flow, block)->kind == FUNCTION);
}

bool osp_flow_runs_again(const struct osp_flow *flow, uint32_t *within)
{
	bool again = false;

	*within = 0;
	for (uint32_t at = flow->at.block; at; at = block_at(flow, at)->parent) {
		const struct osp_flow_block *block = block_at(flow, at);

		if (block->kind == FUNCTION && !block->process) {
			*within = 0;
			return true;
		}
		if (block->kind == LOOP) {
			*within = at;
			again = true;
		}
	}
	return again;
}

bool osp_flow_in_array(const struct osp_flow *flow)
{
	return block_at(flow, flow->at.block)->kind == ARRAY;
}

bool osp_flow_may_not_run(const struct osp_flow *flow, uint32_t block)
{
	return block_at(flow, block)->may_not_run;
}

bool osp_flow_together(const struct osp_flow *flow, uint32_t one, uint32_t other)
{
	return block_at(flow, one)->function == block_at(flow, other)->function;
}

bool osp_flow_within(const struct osp_flow *flow, uint32_t inner, uint32_t outer)
{
	for (; inner && inner != outer; inner = block_at(flow, inner)->parent)
		;
	return inner == outer;
}

static bool is_subshell(const struct osp_flow_block *block)
{
	return block->kind == SUBSHELL || (block->process && block->kind != FUNCTION);
}

uint32_t osp_flow_subshell(const struct osp_flow *flow, uint32_t block)
{
	while (block && !is_subshell(block_at(flow, block)))
		block = block_at(flow, block)->kind == FUNCTION ? 0 : block_at(flow, block)->parent;
	return block;
}

void osp_flow_note_start(struct osp_flow *flow, size_t number)
{
	for (uint32_t block = flow->at.block; block; block = block_at(flow, block)->parent)
		flow->blocks[block - 1].last_start = number;
}

bool osp_flow_starts_none(const struct osp_flow *flow, uint32_t block, size_t number)
{
	const struct osp_flow_block *at = block_at(flow, block);

	while (!is_subshell(at) && at->kind != FUNCTION && at->kind != SCRIPT)
		at = block_at(flow, at->parent);
	return (is_subshell(at) || at->process) && at->last_start <= number;
}

uint32_t osp_flow_as_sure(const struct osp_flow *flow, uint32_t block)
{
	while (block && !block_at(flow, block)->doubtful && !is_subshell(block_at(flow, block)) &&
	       block_at(flow, block)->kind != FUNCTION)
		block = block_at(flow, block)->parent;
	return block;
}

size_t osp_flow_last_start(const struct osp_flow *flow, uint32_t block, size_t all)
{
	while (block && !is_subshell(block_at(flow, block)) && !block_at(flow, block)->process)
		block = block_at(flow, block)->parent;
	return block ? block_at(flow, block)->last_start : all;
}

size_t osp_flow_starts_before(const struct osp_flow *flow, uint32_t loop)
{
	return block_at(flow, loop)->starts;
}

bool osp_flow_lasts_to(const struct osp_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t subshell = osp_flow_subshell(flow, block);

	return osp_flow_together(flow, block, loop) && osp_flow_within(flow, block, loop) &&
	       (!subshell || osp_flow_within(flow, loop, subshell));
}

bool osp_flow_in_each_round(const struct osp_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t sure = osp_flow_as_sure(flow, block);

	while (block && block_at(flow, block)->parent != loop)
		block = block_at(flow, block)->parent;
	return block && osp_flow_within(flow, block, sure);
}

/* The shell's builtins, and tools that prepare a job and read no variable that rules are about. */
static const char *const quiet[] = {
	":",	    ".",	 "[",	     "[[",	 "alias",    "awk",	 "basename",
	"break",    "cat",	 "cd",	     "chgrp",	 "chmod",    "chown",	 "conda",
	"continue", "cp",	 "curl",     "cut",	 "date",     "declare",	 "df",
	"dirname",  "dirs",	 "du",	     "echo",	 "exit",     "export",	 "false",
	"find",	    "free",	 "getconf",  "getopts",	 "git",	     "grep",	 "gunzip",
	"gzip",	    "hash",	 "head",     "host",	 "hostname", "ibstat",	 "ibv_devinfo",
	"id",	    "ifconfig",	 "ip",	     "jobs",	 "kill",     "let",	 "ln",
	"local",    "ls",	 "lscpu",    "lspci",	 "mamba",    "mapfile",	 "micromamba",
	"mkdir",    "mktemp",	 "ml",	     "module",	 "mv",	     "nproc",	 "nvidia-smi",
	"pip",	    "pip3",	 "popd",     "printenv", "printf",   "pushd",	 "pwd",
	"read",	    "readarray", "readlink", "readonly", "realpath", "return",	 "rm",
	"rmdir",    "rsync",	 "sacct",    "scontrol", "sed",	     "seq",	 "set",
	"setenv",   "shift",	 "shopt",    "sinfo",	 "sleep",    "sort",	 "source",
	"spack",    "squeue",	 "stat",     "sync",	 "tail",     "tar",	 "tee",
	"test",	    "touch",	 "tr",	     "trap",	 "true",     "type",	 "typeset",
	"ulimit",   "umask",	 "uname",    "uniq",	 "unset",    "unsetenv", "unzip",
	"wait",	    "wc",	 "wget",     "which",	 "whoami",   NULL};

/* Returns whether the words are `eval "$(conda shell.bash hook)"` and the like: what a tool prints
 * to set a shell up. */
static bool sets_up(const struct osp_shell_word *words, size_t count)
{
	return count == 2 && !strcmp(words[0].text, "eval") && !strncmp(words[1].text, "$(", 2);
}

/* Programs that run the words after them. */
static const char *const openers[] = {"builtin", "command", "env", "exec", "nohup", "sudo", NULL};

bool osp_flow_starts_program(const struct osp_flow *flow, const struct osp_shell_word *words,
			     size_t count)
{
	size_t name_bytes;
	bool options = false;

	if (block_at(flow, flow->at.block)->kind == ARRAY || sets_up(words, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *name = osp_shell_base_name(words[i].text);

		if (osp_shell_is_assignment(words[i].text, &name_bytes) ||
		    (options && *words[i].text == '-'))
			continue;
		options = osp_shell_is_one_of(name, openers);
		if (options)
			continue;
		/* options without a program belong to an array; a tool of a path may be another */
		return *words[i].text != '-' &&
		       (words[i].unexpanded || !osp_shell_is_one_of(name, quiet));
	}
	return false;
}

void osp_flow_free(struct osp_flow *flow)
{
	free(flow->blocks);
}
