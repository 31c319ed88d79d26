/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_options.c - finds the options of sbatch, srun and training programs in a script's words */
#include "onespine_config.h"
#include "lib/env/script_options.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"

/* The options to keep, by Slurm's own long and short names (sbatch(1), srun(1)). */
static const struct {
	const char *name;
	char letter;
	bool takes_value;
} slurm_options[] = {
	{"nodes", 'N', true},	     {"ntasks", 'n', true},	   {"ntasks-per-node", 0, true},
	{"tasks-per-node", 0, true}, {"cpus-per-task", 'c', true}, {"gpus-per-task", 0, true},
	{"gpus-per-node", 0, true},  {"gpus", 'G', true},	   {"gres", 0, true},
	{"gpu-bind", 0, true},	     {"tres-bind", 0, true},	   {"gres-flags", 0, true},
	{"exclusive", 0, false},     {"requeue", 0, false},	   {"no-requeue", 0, false},
	{"gang", 0, false},	     {"nodelist", 'w', true},	   {"cpu-bind", 0, true},
	{"gang-spares", 0, true},
};

/* The options of programs, '-' and '_' alike: PyTorch's launcher, and the frameworks' names for the
 * workers of data loaders. */
static const struct {
	const char *option;
	const char *name;
} program_options[] = {
	{"nproc-per-node", "nproc-per-node"},
	{"nnodes", "nnodes"},
	{"master-addr", "master-addr"},
	{"master-port", "master-port"},
	{"rdzv-endpoint", "rdzv-endpoint"},
	{"num-workers", "num-workers"},
	{"rdzv-backend", "rdzv-backend"},
	{"data-workers", "num-workers"},
	{"dataloader-num-workers", "num-workers"},
	{"num-data-workers", "num-workers"},
};

/* srun's letters that take no value (srun(1) of 22.05 to 26.05). */
static const char letters_alone[] = "EHIKkLlOQsuVvXZ";

/* Its other long options with a value, which may be the next word (slurm_opt.c of 22.05 to 26.05),
 * and pyxis's. */
static const char *const longs_with_value[] = {
	"accel-bind",
	"account",
	"acctg-freq",
	"bb",
	"bbf",
	"bcast-exclude",
	"begin",
	"chdir",
	"cluster-constraint",
	"clusters",
	"comment",
	"constraint",
	"container",
	"container-id",
	"container-image",
	"container-mounts",
	"container-name",
	"container-env",
	"container-save",
	"container-workdir",
	"context",
	"core-spec",
	"cores-per-socket",
	"cpu-freq",
	"cpus-per-gpu",
	"deadline",
	"delay-boot",
	"dependency",
	"distribution",
	"epilog",
	"error",
	"exclude",
	"export",
	"extra",
	"extra-node-info",
	"gid",
	"gpu-freq",
	"gpus-per-socket",
	"het-group",
	"hint",
	"input",
	"job-name",
	"jobid",
	"licenses",
	"mail-type",
	"mail-user",
	"mcs-label",
	"mem",
	"mem-bind",
	"mem-per-cpu",
	"mem-per-gpu",
	"mincpus",
	"mpi",
	"msg-timeout",
	"network",
	"nodefile",
	"ntasks-per-core",
	"ntasks-per-gpu",
	"ntasks-per-socket",
	"open-mode",
	"output",
	"partition",
	"power",
	"prefer",
	"priority",
	"profile",
	"prolog",
	"qos",
	"relative",
	"reservation",
	"segment",
	"signal",
	"slurmd-debug",
	"sockets-per-node",
	"switches",
	"task-epilog",
	"task-prolog",
	"thread-spec",
	"threads",
	"threads-per-core",
	"time",
	"time-min",
	"tmp",
	"treewidth",
	"tres-per-task",
	"uid",
	"wait",
	"wckey",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int add(struct osp_script_options *options, struct osp_arena *arena,
	       const struct osp_script_option *option, const char *value, size_t value_bytes)
{
	if (options->count >= OSP_SCRIPT_OPTIONS_MAX) {
		options->too_many = true;
		return -1;
	}
	if (osp_make_room((void **)&options->list, &options->room, options->count,
			  sizeof(*options->list)))
		return -1;
	options->list[options->count] = *option;
	options->list[options->count].value = osp_arena_copy(arena, value, value_bytes);
	return options->list[options->count++].value ? 0 : -1;
}

/* Returns the index of the option of Slurm that begins the word, or -1. `value` gets the rest of
 * the word, or NULL if there is none. */
static int slurm_option(const char *word, const char **value)
{
	for (size_t i = 0; i < COUNT(slurm_options); i++) {
		size_t length = strlen(slurm_options[i].name);

		*value = NULL;
		if (!strncmp(word, "--", 2) && !strncmp(word + 2, slurm_options[i].name, length) &&
		    (word[2 + length] == '\0' || word[2 + length] == '=')) {
			if (word[2 + length])
				*value = word + 3 + length;
			return (int)i;
		}
		if (slurm_options[i].letter && word[0] == '-' &&
		    word[1] == slurm_options[i].letter) {
			if (word[2])
				*value = word + 2 + (word[2] == '=');
			return (int)i;
		}
	}
	return -1;
}

/* Returns the name by which an option is kept. */
static const char *kept_name(int index)
{
	const char *name = slurm_options[index].name;

	return strcmp(name, "tasks-per-node") ? name : "ntasks-per-node";
}

/* Returns whether the next word is this option's value. */
static bool wants_next(const char *word, int index, const char *value)
{
	if (index >= 0)
		return !value && slurm_options[index].takes_value;
	for (size_t i = 0; i < COUNT(longs_with_value) && !strncmp(word, "--", 2); i++) {
		if (!strcmp(word + 2, longs_with_value[i]))
			return true;
	}
	if (!strncmp(word, "--", 2))
		return false; /* other plugins' are not known here */
	return word[1] && !word[2] && !strchr(letters_alone, word[1]);
}

bool osp_srun_option_takes_next(const char *word)
{
	const char *value = NULL;
	int index = slurm_option(word, &value);

	return wants_next(word, index, value);
}

/* --- srun and programs ------------------------------------------------------------------------ */

/* Reads the words of srun up to its program. Returns the program's index, or SIZE_MAX if memory ran
 * out. */
static size_t take_srun(struct osp_script_options *options, struct osp_arena *arena,
			const struct osp_shell_word *words, size_t count, size_t at,
			enum osp_doubt doubt)
{
	struct osp_script_option option = {.of = OSP_OPTION_OF_SRUN,
					   .doubt = doubt,
					   .command = ++options->commands,
					   .call = options->calls,
					   .name = "srun",
					   .line = words[at].line,
					   .column = words[at].column};

	if (add(options, arena, &option, "", 0))
		return SIZE_MAX;
	for (at++; at < count && *words[at].text == '-'; at++) {
		const char *value = NULL;
		int index = slurm_option(words[at].text, &value);
		bool next = at + 1 < count && wants_next(words[at].text, index, value);

		if (index >= 0) {
			option.name = kept_name(index);
			option.line = words[at].line;
			option.column = words[at].column;
			option.unexpanded = words[at + next].unexpanded;
			value = next ? words[at + 1].text : value ? value : "";
			if (add(options, arena, &option, value, strlen(value)))
				return SIZE_MAX;
		}
		at += next;
	}
	if (at < count) {
		option.name = "program";
		option.line = words[at].line;
		option.column = words[at].column;
		option.unexpanded = words[at].unexpanded;
		if (add(options, arena, &option, words[at].text, strlen(words[at].text)))
			return SIZE_MAX;
	}
	return at;
}

/* Returns whether two names differ only in '-' and '_'; `word` may go on with '='. */
static bool names_match(const char *word, const char *name)
{
	for (; *name; word++, name++) {
		if (*word != *name && !(*word == '_' && *name == '-'))
			return false;
	}
	return *word == '\0' || *word == '=';
}

static int take_program_option(struct osp_script_options *options, struct osp_arena *arena,
			       const struct osp_shell_word *words, size_t count, size_t at,
			       struct osp_script_option option)
{
	const char *text = words[at].text, *value = strchr(text, '=');
	size_t from = !value && at + 1 < count ? at + 1 : at;

	if (strncmp(text, "--", 2))
		return 0;
	option.line = words[at].line;
	option.column = words[at].column;
	for (size_t i = 0; i < COUNT(program_options); i++) {
		if (!names_match(text + 2, program_options[i].option))
			continue;
		option.name = program_options[i].name;
		option.unexpanded = words[from].unexpanded;
		value = value ? value + 1 : from > at ? words[from].text : "";
		return add(options, arena, &option, value, strlen(value));
	}
	return 0;
}

/* Notes a program that starts others on other nodes. */
static void note_starter(struct osp_script_options *options, const struct osp_shell_word *words,
			 size_t count)
{
	static const char *const names[] = {
		"srun",	  "mpirun",   "mpiexec",   "orterun", "prterun", "mpiexec.hydra",
		"ssh",	  "pdsh",     "clush",	   "pssh",    "sbatch",	 "parallel-ssh",
		"salloc", "parallel", "deepspeed", "ray",     "ibrun",	 "mpirun_rsh",
		"aprun",  "jsrun",    "prun",	   "rsh",     "dsh",	 "blaunch",
		"pbsdsh", "flux"};

	for (size_t i = 0; i < count && !options->starts_elsewhere; i++) {
		const char *text = words[i].text, *equals = strchr(text, '=');
		const char *slash;
		size_t name_bytes, length;

		/* also the first word of LAUNCHER="srun -l" */
		if (equals && osp_shell_is_assignment(text, &name_bytes))
			text = equals + 1;
		length = strcspn(text, " \t\n");
		slash = memrchr(text, '/', length);
		if (slash) {
			length -= (size_t)(slash + 1 - text);
			text = slash + 1;
		}
		for (size_t j = 0; j < COUNT(names); j++)
			options->starts_elsewhere |=
				!strncmp(names[j], text, length) && !names[j][length];
	}
}

/* Returns whether the program is a script of the user's own, which may start others anywhere: it
 * has a path or ends in .sh, or a shell runs it. */
static bool is_own_script(const struct osp_shell_word *words, size_t count)
{
	static const char *const openers[] = {"exec", "nohup", "env", "time", "command", NULL};
	static const char *const shells[] = {"bash", "sh", "zsh", "ksh", "dash", NULL};
	size_t at = 0, name_bytes, length;
	const char *name;
	bool shell = false;

	for (; at < count; at++) {
		name = osp_shell_base_name(words[at].text);
		if (osp_shell_is_one_of(name, shells))
			shell = true;
		else if (!osp_shell_is_assignment(words[at].text, &name_bytes) &&
			 !osp_shell_is_one_of(name, openers) && *words[at].text != '-')
			break;
		else if (shell && !strncmp(words[at].text, "-c", 2))
			return false; /* its text is read */
	}
	if (at == count)
		return false;
	length = strlen(words[at].text);
	if (strstr(name, "python") == name || !strcmp(name, "torchrun"))
		return false;
	return shell || (length > 3 && !strcmp(words[at].text + length - 3, ".sh")) ||
	       (strchr(words[at].text, '/') && strncmp(words[at].text, "/usr/bin/", 9) != 0 &&
		strncmp(words[at].text, "/bin/", 5) != 0);
}

/* Returns the index of PyTorch's launcher among the words; `count` if it is not there. */
static size_t find_torchrun(const struct osp_shell_word *words, size_t count)
{
	size_t at = 0;

	for (; at < count; at++) {
		if (!strcmp(osp_shell_base_name(words[at].text), "torchrun") ||
		    !strcmp(words[at].text, "torch.distributed.run") ||
		    !strcmp(words[at].text, "torch.distributed.launch"))
			break;
	}
	return at;
}

/* Returns whether a variable's value comes before PyTorch's launcher and may be an srun: not if it
 * is the Python of "$PYTHON -m torch.distributed.run". */
static bool is_led(const struct osp_shell_word *words, size_t torchrun)
{
	size_t name_bytes, at = 0;

	while (at < torchrun && osp_shell_is_assignment(words[at].text, &name_bytes))
		at++;
	return at < torchrun && words[at].unexpanded && strcmp(words[at + 1].text, "-m") != 0;
}

int osp_script_options_of_command(struct osp_script_options *options, struct osp_arena *arena,
				  const struct osp_shell_word *words, size_t count, bool in_step,
				  bool is_read, enum osp_doubt doubt)
{
	struct osp_script_option option = {
		.of = OSP_OPTION_OF_PROGRAM, .in_step = in_step, .doubt = doubt};
	size_t at = 0, torchrun = find_torchrun(words, count);

	options->calls++;
	if (!count || !strcmp(words[0].text, "echo") || !strcmp(words[0].text, "printf"))
		return 0;
	note_starter(options, words, count);
	options->starts_elsewhere |= (torchrun < count && is_led(words, torchrun)) ||
				     (torchrun == count && !is_read && is_own_script(words, count));
	option.torchrun = torchrun < count || *words[0].text == '-';
	while (at < count && strcmp(osp_shell_base_name(words[at].text), "srun"))
		at++;
	option.in_step |= at < count;
	at = at < count ? take_srun(options, arena, words, count, at, doubt) : 0;
	option.command = options->commands;
	option.call = options->calls;
	for (; at < count; at++) {
		if (take_program_option(options, arena, words, count, at, option))
			return -1;
	}
	return at == SIZE_MAX ? -1 : 0;
}

void osp_script_options_note_program(struct osp_script_options *options,
				     const struct osp_shell_word *words, size_t count)
{
	options->may_start_elsewhere |= find_torchrun(words, count) == count;
}

/* --- #SBATCH ---------------------------------------------------------------------------------- */

/* Finds the next word of the line; quotes keep blanks. Returns false at the line's end or at a
 * comment. */
static bool next_word(const char *text, size_t bytes, size_t *at, size_t *start, size_t *end)
{
	char quote = '\0';

	while (*at < bytes && isspace((unsigned char)text[*at]))
		++*at;
	*start = *at;
	if (*at >= bytes || text[*at] == '#')
		return false;
	for (; *at < bytes && (quote || !isspace((unsigned char)text[*at])); ++*at) {
		if (text[*at] == '\'' || text[*at] == '"')
			quote = !quote ? text[*at] : quote == text[*at] ? '\0' : quote;
	}
	*end = *at;
	return true;
}

int osp_script_options_of_comment(struct osp_script_options *options, struct osp_arena *arena,
				  const char *text, size_t bytes, int line, int column, bool late)
{
	struct osp_script_option option = {.of = OSP_OPTION_OF_SBATCH, .line = line};
	size_t at = sizeof("#SBATCH") - 1, start, end;

	if (late || column > 1) {
		option = (struct osp_script_option){.of = OSP_OPTION_OF_NOBODY,
						    .name = "#SBATCH",
						    .line = line,
						    .column = column};
		return next_word(text, bytes, &at, &start, &end)
			       ? add(options, arena, &option, text + start, bytes - start)
			       : 0;
	}
	while (next_word(text, bytes, &at, &start, &end)) {
		const char *word = osp_arena_copy(arena, text + start, end - start), *value = NULL;
		int index = word ? slurm_option(word, &value) : -1;

		if (!word)
			return -1;
		if (index < 0)
			continue;
		option.name = kept_name(index);
		option.column = (int)start + 1;
		if (wants_next(word, index, value) && next_word(text, bytes, &at, &start, &end))
			value = osp_arena_copy(arena, text + start, end - start);
		if (add(options, arena, &option, value ? value : "", value ? strlen(value) : 0))
			return -1;
	}
	return 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

void osp_script_options_free(struct osp_script_options *options)
{
	free(options->list);
	options->list = NULL;
	options->count = options->room = 0;
}

const struct osp_script_option *osp_sbatch_option(const struct osp_script_options *options,
						  const char *name)
{
	for (size_t i = options->count; i-- > 0;) {
		if (options->list[i].of == OSP_OPTION_OF_SBATCH &&
		    !strcmp(options->list[i].name, name))
			return &options->list[i];
	}
	return NULL;
}

const struct osp_script_option *osp_command_option(const struct osp_script_options *options,
						   size_t command, const char *name)
{
	for (size_t i = options->count; i-- > 0;) {
		const struct osp_script_option *one = &options->list[i];

		if (one->of == OSP_OPTION_OF_SRUN && one->command == command &&
		    !strcmp(one->name, name))
			return one;
	}
	return NULL;
}

long osp_whole_number(const char *text)
{
	char *end;
	long number;

	if (!isdigit((unsigned char)*text))
		return -1;
	number = strtol(text, &end, 10);
	return *end ? -1 : number;
}

long osp_option_number(const struct osp_script_option *option)
{
	return option && !option->unexpanded ? osp_whole_number(option->value) : -1;
}
