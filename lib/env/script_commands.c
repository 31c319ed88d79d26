/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_commands.c - finds the words of a job script's commands that set a variable */
#include "lib/env/script_private.h"

#include <string.h>

#include "lib/env/script_value.h"

#define INNER_BYTES_MAX (4 * OSP_SCRIPT_BYTES_MAX) /* read in texts within the script */
#define INNER_DEPTH_MAX 8

static const char *const exporters[] = {"export", "declare", "typeset", "readonly", "local", NULL};
static const char *const launchers[] = {"srun", "sbatch", "salloc", NULL};
static const char *const mpi[] = {"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra", NULL};
static const char *const containers[] = {"docker", "podman", "apptainer", "singularity", NULL};
static const char *const shells[] = {"sh", "bash", "dash", "ksh", "zsh", NULL};

/* What is known from the words of a command before this one. */
struct command {
	const struct osp_shell_word *words;
	size_t count;
	bool leading; /* assignments may be here */
	bool exporting, unexporting, env, exec, begun;
	bool launcher, submits, mpi, container, shell, remote;
	bool lists; /* apptainer, whose --env takes A=b,C=d */
	bool led;   /* a program was named that does not run the words after it */
};

/* Returns whether a text within the present one may be read. */
static bool may_read(const struct osp_reading *reading)
{
	return reading->depth < INNER_DEPTH_MAX && reading->inner_bytes < INNER_BYTES_MAX;
}

/* Reads a text within the present one, after may_read(): of -c, `eval` or $(...). `own`: the shell
 * that reads the present text runs it. */
static int read_inner(struct osp_reading *reading, const struct osp_shell_word *word, bool own)
{
	struct osp_shell_reader reader = {.context = reading,
					  .command = osp_reading_command,
					  .mark = osp_reading_mark,
					  .document = osp_reading_take_document};
	struct osp_flow_place place = osp_flow_enter(&reading->courses.flow, !own);
	const struct osp_shell_word *outer = reading->outer;
	struct osp_shell_word placed = *word;
	bool alone = reading->alone, lasting = reading->lasting, inner = reading->inner;
	bool one_node = reading->one_node, text_one_node = reading->text_one_node;
	const char *exports = reading->exports;
	size_t hidden = reading->courses.hidden_count;
	int rc;

	if (placed.column) { /* else it is of a file, whose place is known */
		osp_reading_place(reading, &placed.line, &placed.column);
		placed.whole_lines &= !outer || outer->whole_lines;
	}
	reading->outer = &placed;
	reading->depth++;
	reading->inner_bytes += strlen(word->text);
	reading->text_one_node = one_node;
	rc = osp_shell_read(word->text, strlen(word->text), &reader);
	reading->depth--;
	reading->outer = outer;
	reading->alone = alone;
	reading->lasting = lasting;
	reading->inner = inner;
	reading->one_node = one_node;
	reading->text_one_node = text_one_node;
	if (!own)
		reading->exports = exports;
	osp_course_reveal(&reading->courses, hidden, !own);
	osp_flow_leave(&reading->courses.flow, place);
	return rc;
}

/* Notes a program or a builtin, which decides what its arguments may set. */
static void note_program(struct osp_reading *reading, struct command *command, size_t index)
{
	const char *name = osp_shell_base_name(command->words[index].text);

	command->exec = !command->begun && !strcmp(name, "exec");
	command->begun = true;
	command->leading = !strcmp(name, "env") || !strcmp(name, "exec");
	command->exporting |= osp_shell_is_one_of(name, exporters);
	command->env |= !strcmp(name, "env");
	command->launcher |= osp_shell_is_one_of(name, launchers);
	command->submits |= !strcmp(name, "sbatch") || !strcmp(name, "salloc");
	command->mpi |= osp_shell_is_one_of(name, mpi);
	command->container |= osp_shell_is_one_of(name, containers);
	command->lists |= !strcmp(name, "apptainer") || !strcmp(name, "singularity");
	command->shell |= osp_shell_is_one_of(name, shells);
	command->remote |= !command->led && osp_shell_is_remote(name);
	if (!command->led)
		osp_reading_border(reading, name, command->words + index + 1,
				   command->count - index - 1);
	command->led |= !osp_border_leads_on(command->words, index);
}

static const char *after(const char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) ? NULL : word + length;
}

/* Returns whether a shell's option says that a command follows: -c, also among others, as -lc and
 * -cx. */
static bool gives_command(const char *option)
{
	return *option == '-' && option[1] != '-' && strchr(option, 'c') &&
	       !option[1 + strspn(option + 1, "abcefhiklmnoprtuvxBCEHPT")];
}

/* Returns the index of the command after a shell's option at `index`: the first word that is no
 * option, nor the word of an `o` (pipefail). Returns `count` if there is none. */
static size_t find_command(const struct command *command, size_t index)
{
	for (; index < command->count; index++) {
		const char *text = command->words[index].text;

		if (*text != '-' && *text != '+')
			break;
		index += text[1] != '-' && strchr(text, 'o') != NULL;
	}
	return index < command->count ? index : command->count;
}

/* Reads a text that the command has a shell run. */
static int read_run(struct osp_reading *reading, const struct command *command,
		    const struct osp_shell_word *word)
{
	bool step = reading->step, ranks = reading->ranks;
	int rc;

	reading->step |= command->launcher && !command->submits;
	reading->ranks |= command->mpi;
	rc = read_inner(reading, word, false);
	reading->step = step;
	reading->ranks = ranks;
	reading->inner = true;
	return rc;
}

static int take_substitutions(struct osp_reading *reading, const struct osp_shell_word *word);

/* Does the same with a word, in which the script's own shell may put something first. */
static int read_run_word(struct osp_reading *reading, const struct command *command,
			 const struct osp_shell_word *word)
{
	struct osp_shell_word given = *word, live;

	if (osp_reading_given_text(reading, &given, &live) || take_substitutions(reading, &live))
		return -1;
	return read_run(reading, command, &given);
}

/* Reads the text that a shell's -c at `index` gives it. Returns how many words that are, 0 for
 * none, or -1. */
static int take_text(struct osp_reading *reading, const struct command *command, size_t index)
{
	size_t at = find_command(command, index);

	if (at >= command->count || !may_read(reading))
		return 0;
	return read_run_word(reading, command, &command->words[at]) ? -1 : (int)(at - index + 1);
}

/* Reads a file that the script has written, at a word that runs it. Returns 1 if it did, 0 if there
 * is none, or -1. */
static int take_document(struct osp_reading *reading, const struct command *command,
			 const struct osp_shell_word *word)
{
	static const char *const sources[] = {".", "source", NULL};
	const struct osp_document_read *document = osp_reading_document(reading, word->text);
	struct osp_shell_word text = {.whole_lines = true};
	bool own = osp_shell_is_one_of(command->words[0].text, sources);
	int rc;

	if (!document || !may_read(reading) ||
	    (command->led && !command->launcher && !command->shell && !own))
		return 0;
	text.text = document->text;
	text.line = document->line;
	if (!own)
		return read_run(reading, command, &text) ? -1 : 1;
	rc = read_inner(reading, &text, true);
	reading->inner = true;
	return rc ? -1 : 1;
}

/* Takes the list of --export: what it does not name is hidden, unless it has ALL. Beside ALL srun
 * takes a value of the list only for a variable that is not exported (slurm 25.11
 * src/srun/launch.c, _build_user_env(); the same in 22.05); sbatch takes it in any case. */
static int take_exports(struct osp_reading *reading, const struct command *command,
			const char *list, const struct osp_shell_word *word)
{
	bool all = osp_reading_hide_but(reading, list);
	int rc;

	reading->yields = all && !command->submits;
	rc = osp_reading_export_list(reading, list, word);
	reading->yields = false;
	return rc;
}

/* Takes the value of a container's --env. */
static int take_env_value(struct osp_reading *reading, const struct command *command,
			  const char *value, const struct osp_shell_word *word)
{
	return command->lists ? osp_reading_export_list(reading, value, word)
			      : osp_reading_assign(reading, value, strlen(value), word);
}

/* Takes an option of a launcher that sets a variable, with the words after it. Returns how many
 * words it took, 0 for none, or -1. */
static int take_option(struct osp_reading *reading, const struct command *command, size_t index)
{
	const struct osp_shell_word *word = &command->words[index];
	const struct osp_shell_word *next = index + 1 < command->count ? word + 1 : NULL;
	const char *value;
	int rc = 0;

	if (command->launcher && (value = after(word->text, "--export=")))
		return take_exports(reading, command, value, word) ? -1 : 1;
	if (command->container && (value = after(word->text, "--env=")))
		return take_env_value(reading, command, value, word) ? -1 : 1;
	if (reading->document_count && (rc = take_document(reading, command, word)))
		return rc;
	if (!next) /* of ssh the last word is a text, if it is several */
		return command->remote && strpbrk(word->text, " \t\n") && may_read(reading)
			       ? (read_run_word(reading, command, word) ? -1 : 1)
			       : 0;
	if (command->launcher && !strcmp(word->text, "--export"))
		rc = take_exports(reading, command, next->text, next);
	else if (command->container && !strcmp(word->text, "--env"))
		rc = take_env_value(reading, command, next->text, next);
	else if ((command->mpi && !strcmp(word->text, "-x")) ||
		 (command->container && !strcmp(word->text, "-e")))
		rc = osp_reading_assign(reading, next->text, strlen(next->text), next);
	else if (command->shell && gives_command(word->text))
		return take_text(reading, command, index);
	else if (command->mpi && index + 2 < command->count &&
		 (!strcmp(word->text, "-env") || !strcmp(word->text, "-genv")))
		return osp_reading_add(reading, next->text, strlen(next->text), word[2].text,
				       strlen(word[2].text), next)
			       ? -1
			       : 3;
	else
		return 0;
	return rc ? -1 : 2;
}

/* Takes a word of `:`, as in : ${A:=b}. */
static int take_default(struct osp_reading *reading, const struct osp_shell_word *word)
{
	const char *text = word->text, *value;
	size_t name_bytes = strncmp(text, "${", 2) ? 0 : strcspn(text + 2, ":="), value_bytes;

	if (!name_bytes || !word->unexpanded ||
	    !osp_value_is_default(text, strlen(text), text + 2, name_bytes, &value, &value_bytes) ||
	    value[-1] != '=')
		return 0;
	return osp_reading_add(reading, text + 2, name_bytes, text, strlen(text), word);
}

/* Reads the options in A='--export=ALL,B=c', for a launcher that is named elsewhere. */
static int take_options_in(struct osp_reading *reading, const struct osp_shell_word *word)
{
	const char *value = strchr(word->text, '=') + 1;
	struct osp_shell_word inner = *word;

	inner.text = value;
	if (value[strspn(value, " \t\n")] != '-' || !may_read(reading))
		return 0;
	return read_inner(reading, &inner, false);
}

static bool is_only_assignments(const struct osp_shell_word *words, size_t count)
{
	size_t name_bytes;

	for (size_t i = 0; i < count; i++) {
		if (!osp_shell_is_assignment(words[i].text, &name_bytes))
			return false;
	}
	return true;
}

/* Takes the words of `unset`, unless they are functions. */
static void take_unset(struct osp_reading *reading, const struct osp_shell_word *words,
		       size_t count)
{
	for (size_t i = 1; i < count && strcmp(words[i].text, "-f") != 0; i++) {
		const char *name = words[i].text;

		if (*name == '-')
			continue;
		osp_reading_end(reading, name, strlen(name), OSP_COURSE_UNSET);
		if (reading->outer && osp_flow_is_sure_in_text(&reading->courses.flow))
			osp_reading_hide(reading, name, true);
	}
}

/* Takes an option of `env` that hides a variable: -u A, -uA, --unset=A; or all of them: -i, as -c
 * of `exec` does. Returns how many words it has. */
static size_t take_env_option(struct osp_reading *reading, const struct command *command,
			      size_t index)
{
	const char *text = command->words[index].text, *name = NULL;
	bool letters = text[1] != '-', next = index + 1 < command->count;

	if (command->exec) {
		if (letters && strchr(text, 'c'))
			osp_course_hide_all(&reading->courses, NULL);
		return 1 + (next && !strcmp(text, "-a"));
	}
	if (!text[1] || !strcmp(text, "--ignore-environment") ||
	    (letters && strchr("i0v", text[1]) && strchr(text, 'i')))
		osp_course_hide_all(&reading->courses, NULL);
	next &= !strcmp(text, "-u") || !strcmp(text, "--unset") || !strcmp(text, "-C") ||
		!strcmp(text, "--chdir");
	if (next && strchr("uU", text[1] == '-' ? text[2] : text[1]))
		name = command->words[index + 1].text;
	else if (after(text, "--unset="))
		name = after(text, "--unset=");
	else if (!next && after(text, "-u"))
		name = after(text, "-u");
	if (name && *name)
		osp_reading_hide(reading, name, false);
	return 1 + next;
}

/* Takes a word that is no setting and no option of a launcher. Returns how many words it took. */
static size_t take_word(struct osp_reading *reading, struct command *command, size_t index)
{
	const char *text = command->words[index].text;

	if ((command->env || command->exec) && command->leading && *text == '-')
		return take_env_option(reading, command, index);
	if (command->exporting)
		command->unexporting |= !strcmp(text, "-n") || !strcmp(text, "+x");
	if (command->leading && *text == '-') /* options end nothing */
		return 1;
	if (command->exporting && command->unexporting)
		osp_reading_end(reading, text, strlen(text), OSP_COURSE_UNEXPORTED);
	else if (command->exporting)
		osp_reading_export(reading, text, strlen(text));
	note_program(reading, command, index);
	reading->lasting |= command->exporting;
	return 1;
}

/* Reads the text of each $(...) in a word. Its options are not those of the job's steps. */
static int take_substitutions(struct osp_reading *reading, const struct osp_shell_word *word)
{
	const char *at = word->text, *end = at + strlen(at), *counted = at, *body;
	struct osp_shell_word inner = *word;
	bool before = reading->in_words;
	size_t bytes;
	int rc = 0;

	reading->in_words = true;
	while (!rc && word->unexpanded && may_read(reading) &&
	       (body = osp_shell_substitution(at, (size_t)(end - at), &bytes))) {
		if (word->whole_lines)
			inner.line += osp_shell_line_feeds(counted, (size_t)(body - counted));
		counted = body;
		at = body + bytes;
		inner.text = osp_arena_copy(&reading->script->arena, body, bytes);
		rc = inner.text ? read_inner(reading, &inner, false) : -1;
	}
	reading->in_words = before;
	return rc;
}

/* Ends what $((A=1)) in a word sets. */
static void take_arithmetics(struct osp_reading *reading, const struct osp_shell_word *word)
{
	const char *at = word->unexpanded ? strstr(word->text, "$((") : NULL, *end;

	for (; at && (end = strstr(at, "))")); at = strstr(end, "$(("))
		osp_reading_arithmetic(reading, at + 3, (size_t)(end - at) - 3);
}

/* Takes what a shell puts into words, and nothing else of them. */
static int take_expansions(struct osp_reading *reading, const struct osp_shell_word *words,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		take_arithmetics(reading, &words[i]);
		if (take_substitutions(reading, &words[i]))
			return -1;
	}
	return 0;
}

/* Takes the words of a command one after the other. */
static int take_words(struct osp_reading *reading, struct command *command)
{
	size_t name_bytes;

	for (size_t i = 0; i < command->count;) {
		const struct osp_shell_word *word = &command->words[i];
		int taken = take_option(reading, command, i);
		size_t words = 1;

		if (taken < 0)
			return -1;
		if (taken) {
			i += (size_t)taken;
			continue;
		}
		if (!(command->leading || command->exporting) ||
		    !osp_shell_is_assignment(word->text, &name_bytes))
			words = take_word(reading, command, i);
		else if (osp_reading_assign(reading, word->text, strlen(word->text), word) ||
			 take_options_in(reading, word))
			return -1;
		else if (command->unexporting)
			osp_reading_end(reading, word->text, name_bytes, OSP_COURSE_UNEXPORTED);
		if (take_expansions(reading, word, words))
			return -1;
		i += words;
	}
	return 0;
}

/* Ends what `read`, getopts and printf -v set to something unknown: IFS=: read A B. */
static void end_read(struct osp_reading *reading, const struct osp_shell_word *words, size_t count)
{
	size_t at = 0, first, bytes;

	while (at < count && osp_shell_is_assignment(words[at].text, &bytes))
		at++;
	if (at == count)
		return;
	if (!strcmp(words[at].text, "read"))
		first = at + 1;
	else if (!strcmp(words[at].text, "getopts") ||
		 (at + 1 < count && !strcmp(words[at].text, "printf") &&
		  !strcmp(words[at + 1].text, "-v")))
		first = at + 2;
	else
		return;
	for (size_t i = first; i < count && (i == first || first == at + 1); i++)
		osp_reading_end(reading, words[i].text, strlen(words[i].text), OSP_COURSE_UNSET);
}

/* Ends what `for A in ...` sets; `words` are the reserved words of a command. */
static void end_loop_variable(struct osp_reading *reading, const struct osp_shell_word *words,
			      size_t count)
{
	static const char *const loops[] = {"for", "select", NULL};

	for (size_t i = 0; i + 1 < count; i++) {
		if (!osp_shell_is_one_of(words[i].text, loops))
			continue;
		osp_reading_end(reading, words[i + 1].text, strlen(words[i + 1].text),
				OSP_COURSE_UNSET);
		return;
	}
}

/* Reads the text of eval "TEXT", and ends what other builtins set. */
static int take_builtin(struct osp_reading *reading, const struct osp_shell_word *words,
			size_t count)
{
	const char *name = words[0].text;
	int rc;

	if (!strcmp(name, "eval") && count == 2 && !words[1].unexpanded && may_read(reading)) {
		rc = read_inner(reading, &words[1], true);
		reading->inner = true;
		return rc;
	}
	for (size_t i = 1; i < count && (!strcmp(name, "let") || !strcmp(name, "((")); i++)
		osp_reading_arithmetic(reading, words[i].text, strlen(words[i].text));
	end_read(reading, words, count);
	return 0;
}

/* Takes a command that sets variables by itself. Returns 1 if it is one, or -1. */
static int take_setter(struct osp_reading *reading, const struct osp_shell_word *words,
		       size_t count)
{
	if (!count)
		return 0;
	if (take_builtin(reading, words, count))
		return -1;
	reading->lasting |= !strcmp(words[0].text, ":");
	for (size_t i = 1; i < count && !strcmp(words[0].text, ":"); i++) {
		if (take_default(reading, &words[i]))
			return -1;
	}
	if (!strcmp(words[0].text, "unset") || !strcmp(words[0].text, "unsetenv"))
		take_unset(reading, words, count);
	if (count < 3 || strcmp(words[0].text, "setenv") != 0)
		return 0;
	reading->lasting = true;
	return osp_reading_add(reading, words[1].text, strlen(words[1].text), words[2].text,
			       strlen(words[2].text), &words[1])
		       ? -1
		       : 1;
}

/* Keeps the options of a command, and notes whether it is an srun on one node. */
static int keep_options(struct osp_reading *reading, const struct osp_shell_word *words,
			size_t count)
{
	struct osp_script_options *kept = &reading->script->options;
	struct osp_flow *flow = &reading->courses.flow;
	size_t steps = kept->commands, before = kept->count;
	bool branch = osp_flow_now_may_not_run(flow), runs_document = false;

	for (size_t i = 0; i < count && reading->document_count && may_read(reading); i++)
		runs_document |= osp_reading_document(reading, words[i].text) != NULL;
	if (osp_script_options_of_command(kept, &reading->script->arena, words, count,
					  reading->outer && reading->step, runs_document,
					  branch ? OSP_DOUBT_BRANCH : OSP_DOUBT_NONE))
		return -1;
	for (size_t i = before; i < kept->count; i++)
		osp_reading_place(reading, &kept->list[i].line, &kept->list[i].column);
	reading->one_node =
		reading->text_one_node ||
		(kept->commands > steps &&
		 osp_option_number(osp_command_option(kept, kept->commands, "nodes")) == 1);
	return 0;
}

/* Takes the words that set variables and give options. Returns 0, or -1. */
static int take_settings(struct osp_reading *reading, const struct osp_shell_word *words,
			 size_t count)
{
	static const char *const printers[] = {"echo", "printf", NULL};
	/* options without a program belong to an array */
	bool options = count && *words[0].text == '-';
	struct command command = {.words = words,
				  .count = count,
				  .leading = true,
				  .launcher = options,
				  .mpi = options,
				  .container = options};
	int rc = take_setter(reading, words, count);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (count && osp_shell_is_one_of(words[0].text, printers))
		return take_expansions(reading, words, count);
	return take_words(reading, &command);
}

/* Notes the programs that a command starts, or may start. */
static void note_starts(struct osp_reading *reading, const struct osp_shell_word *words,
			size_t count)
{
	static const char *const readers[] = {".", "source", "eval", NULL};

	if (!reading->inner && count && osp_shell_is_one_of(words[0].text, readers))
		osp_course_may_start(&reading->courses);
	if (reading->inner || !osp_flow_starts_program(&reading->courses.flow, words, count))
		return;
	osp_course_start(&reading->courses, reading->script->settings);
	if (!reading->in_words)
		osp_script_options_note_program(&reading->script->options, words, count);
}

/* Keeps what the command hides, for the body that it takes for its script. */
static void keep_hidden(struct osp_reading *reading, size_t hidden)
{
	const struct osp_courses *courses = &reading->courses;

	if (!reading->takes_body)
		return;
	reading->takes_body = false;
	reading->hidden_in_body_count = 0;
	for (size_t i = hidden;
	     i < courses->hidden_count && reading->hidden_in_body_count < OSP_BODY_HIDDEN_MAX; i++)
		reading->hidden_in_body[reading->hidden_in_body_count++] = courses->hidden[i];
}

int osp_reading_command(void *context, const struct osp_shell_word *words, size_t count)
{
	struct osp_reading *reading = context;
	size_t skipped = osp_flow_command(&reading->courses.flow, words, count);
	size_t hidden = reading->courses.hidden_count;
	size_t settings = reading->script->count;
	const char *exports = reading->exports;

	osp_course_loop(&reading->courses, reading->script->settings, reading->courses.flow.looped);
	osp_course_part(&reading->courses, reading->script->settings, reading->courses.flow.parted);
	reading->begun = true;
	reading->inner = false;
	if (take_expansions(reading, words, skipped))
		return -1;
	end_loop_variable(reading, words, skipped);
	words += skipped;
	count -= skipped;
	reading->alone = is_only_assignments(words, count);
	reading->lasting = reading->alone && !osp_flow_in_array(&reading->courses.flow);
	if (!reading->in_words && keep_options(reading, words, count))
		return -1;
	if (take_settings(reading, words, count))
		return -1;
	/* what it sets for itself counts for it, and the rest for what the body starts */
	reading->inner |= reading->takes_body && reading->script->count == settings;
	note_starts(reading, words, count);
	if (reading->exports_once)
		reading->exports = exports;
	reading->exports_once = false;
	keep_hidden(reading, hidden);
	osp_course_reveal(&reading->courses, hidden, false);
	if (!reading->outer)
		osp_course_command_ends(&reading->courses);
	return 0;
}

/* Begins a body, from which is hidden what was from its command. */
static void begin_body(struct osp_reading *reading)
{
	struct osp_courses *courses = &reading->courses;
	size_t index = reading->body_count++;

	if (index < OSP_SHELL_BODIES_MAX)
		reading->bodies[index] = (struct osp_body){courses->hidden_count, reading->exports};
	for (size_t i = 0; i < reading->hidden_in_body_count; i++)
		osp_course_hide_again(courses, &reading->hidden_in_body[i]);
	reading->hidden_in_body_count = 0;
}

static void end_body(struct osp_reading *reading)
{
	const struct osp_body *body = &reading->bodies[--reading->body_count];

	if (reading->body_count < OSP_SHELL_BODIES_MAX) {
		osp_course_reveal(&reading->courses, body->hidden, true);
		reading->exports = body->exports;
	}
	reading->begun = true;
}

void osp_reading_mark(void *context, enum osp_shell_mark mark)
{
	struct osp_reading *reading = context;

	if (mark == OSP_SHELL_TAKES)
		reading->takes_body = true;
	else if (mark == OSP_SHELL_BODY)
		begin_body(reading);
	else if (mark == OSP_SHELL_BODY_END && reading->body_count)
		end_body(reading);
	osp_flow_mark(&reading->courses.flow, mark);
}
