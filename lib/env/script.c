/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.c - the settings of a job script: which words of which commands set a variable
 */
#include "onespine_config.h"
#include "lib/env/env_lint.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/env/script_course.h"
#include "lib/env/script_value.h"
#include "lib/env/shell_text.h"

#define VALUE_BYTES_MAX 4096 /* of a value made of other variables */

/* Texts that no user writes would else take time in the square of their size. */
#define COMPARISONS_MAX	      100000000			 /* of names, before no more are made */
#define SUBSTITUTED_BYTES_MAX (4 * OSP_SCRIPT_BYTES_MAX) /* read in $(...) */

struct osp_script {
	struct osp_arena arena;
	struct osp_script_options options;
	struct osp_setting *settings;
	uint32_t count, room;
	size_t comparisons;
	int dos_line;
};

/* The state while one script is read; `outer` is a word whose text is read as a script. */
struct reading {
	struct osp_script *script;
	const struct osp_shell_word *outer;
	bool begun;	/* a command was read: Slurm reads no #SBATCH after the first */
	bool step;	/* srun runs `outer`, so each task does */
	bool one_node;	/* the command is an srun on one node */
	bool alone;	/* the command consists of assignments only */
	bool lasting;	/* assignments are for the commands after it too */
	bool adds;	/* the assignment is a += */
	bool inner;	/* the text that the command runs was read */
	bool in_words;	/* the command is in $(...) */
	bool evaluates; /* it is `eval`, which runs its text as the script's own */
	bool too_many;
	size_t substituted_bytes;
	struct osp_courses courses;
};

/* Returns whether all settings may be looked through once more. */
static bool may_compare(struct osp_script *script)
{
	script->comparisons += script->count;
	return script->comparisons <= COMPARISONS_MAX;
}

/* Returns the value to which the script has set a variable so far: NULL if it has not, or to
 * several values. */
static const char *only_value(struct osp_script *script, const char *name, size_t name_bytes)
{
	const char *value = NULL;

	if (!may_compare(script))
		return NULL;
	for (size_t i = 0; i < script->count; i++) {
		const struct osp_setting *one = &script->settings[i];

		if (strncmp(one->name, name, name_bytes) != 0 || one->name[name_bytes])
			continue;
		if (one->gone)
			continue;
		if (one->unexpanded || (value && strcmp(value, one->value)))
			return NULL;
		value = one->value;
	}
	return value;
}

/*
 * Replaces $X and ${X} by values that the script set before: `known` gets the result. It stays NULL
 * if a shell substitutes anything else, or a variable is unknown. Returns -1 if memory ran out.
 */
static int expand(struct osp_script *script, const char *value, size_t value_bytes, char **known)
{
	const char *at = value, *end = value + value_bytes, *next;
	struct osp_text text = OSP_TEXT_INIT;

	for (; (next = memchr(at, '$', (size_t)(end - at))); at = next) {
		bool braced = next + 1 < end && next[1] == '{';
		const char *name = next + 1 + braced, *one;
		size_t length = osp_value_name_length(name, end);

		one = length ? only_value(script, name, length) : NULL;
		if (!one || strlen(one) > VALUE_BYTES_MAX || text.length_bytes > VALUE_BYTES_MAX ||
		    (braced && (name + length >= end || name[length] != '}')))
			break;
		osp_text_add_bytes(&text, at, (size_t)(next - at));
		osp_text_add(&text, one);
		next = name + length + braced;
	}
	if (next || at == value || memchr(value, '`', value_bytes)) {
		bool failed = text.failed;

		osp_text_free(&text);
		return failed ? -1 : 0;
	}
	osp_text_add_bytes(&text, at, (size_t)(end - at));
	*known = osp_text_take(&text);
	return *known ? 0 : -1;
}

static int append(struct reading *reading, struct osp_setting *setting)
{
	struct osp_script *script = reading->script;

	if (osp_make_room((void **)&script->settings, &script->room, script->count,
			  sizeof(*script->settings)) ||
	    osp_course_begin(&reading->courses, setting, reading->lasting))
		return -1;
	script->settings[script->count++] = *setting;
	return 0;
}

/* Sets the place of a setting in a text within the script: the script's line, or, if that is
 * unknown, the text's beginning. */
static void place_outside(const struct reading *reading, struct osp_setting *setting)
{
	const struct osp_shell_word *outer = reading->outer;

	if (!outer)
		return;
	if (setting->line > 1 && outer->whole_lines) {
		setting->line += outer->line - 1;
	} else {
		setting->line = outer->line;
		setting->column = outer->column;
	}
}

static void end_settings(struct reading *reading, const char *name, size_t name_bytes,
			 enum osp_course_end how)
{
	osp_course_end(&reading->courses, reading->script->settings, name, name_bytes, how);
}

/* Hides a variable from the present command. */
static void hide(struct reading *reading, const char *name)
{
	name = osp_arena_copy(&reading->script->arena, name, strlen(name));
	if (name)
		osp_course_hide(&reading->courses, name);
}

/* Ends what the variable was before a new setting, unless that is made of it, or counts only where
 * there is none; hides it from the command that has the new one for itself. */
static void replace(struct reading *reading, const struct osp_setting *setting)
{
	size_t name_bytes = strlen(setting->name);
	const char *at = setting->value;

	if (setting->fallback || setting->extends)
		return;
	while (setting->unexpanded && (at = strchr(at, '$'))) {
		at += 1 + (at[1] == '{');
		if (!strncmp(at, setting->name, name_bytes))
			return;
	}
	if (reading->lasting)
		end_settings(reading, setting->name, name_bytes, OSP_COURSE_UNSET);
	if (!reading->lasting || reading->outer)
		osp_course_hide(&reading->courses, setting->name);
}

static int add_setting(struct reading *reading, const char *name, size_t name_bytes,
		       const char *value, size_t value_bytes, const struct osp_shell_word *at)
{
	struct osp_setting setting = {.unexpanded = at->unexpanded,
				      .own = reading->alone,
				      .in_step = reading->outer && reading->step,
				      .one_node = reading->one_node,
				      .line = at->line,
				      .column = at->column};
	struct osp_script *script = reading->script;
	char *known = NULL;

	if (script->count >= OSP_SCRIPT_SETTINGS_MAX) {
		reading->too_many = true;
		return -1;
	}
	place_outside(reading, &setting);
	if (setting.unexpanded &&
	    osp_value_is_default(value, value_bytes, name, name_bytes, &value, &value_bytes)) {
		setting.unexpanded = false;
		setting.fallback = true;
	}
	setting.extends =
		setting.unexpanded && osp_value_extends(value, value_bytes, name, name_bytes);
	if (setting.unexpanded && !setting.extends && expand(script, value, value_bytes, &known))
		return -1;
	setting.unexpanded &= !known;
	setting.name = osp_arena_copy(&script->arena, name, name_bytes);
	setting.value = known ? osp_arena_copy(&script->arena, known, strlen(known))
			      : osp_arena_copy(&script->arena, value, value_bytes);
	free(known);
	if (!setting.name || !setting.value)
		return -1;
	if (reading->adds) {
		setting.extends |= !setting.unexpanded;
		setting.unexpanded = true;
	} else {
		replace(reading, &setting);
	}
	return append(reading, &setting);
}

/* Marks the earlier settings of a variable as exported, because of `export NAME`. */
static void export_name(struct reading *reading, const char *name, size_t name_bytes)
{
	struct osp_script *script = reading->script;

	if (may_compare(script))
		osp_course_export(&reading->courses, script->settings, name, name_bytes);
}

/* Takes A=b or A+=b of `bytes` bytes; anything else is no setting. */
static int take_assignment(struct reading *reading, const char *text, size_t bytes,
			   const struct osp_shell_word *at)
{
	size_t name_bytes, before;

	if (!osp_shell_is_assignment(text, &name_bytes) || name_bytes >= bytes)
		return 0;
	before = name_bytes + (text[name_bytes] == '+' ? 2 : 1);
	if (before > bytes)
		return 0;
	if (text[name_bytes] != '+' && at->unexpanded &&
	    osp_value_is_same(text + before, bytes - before, text, name_bytes)) {
		export_name(reading, text, name_bytes);
		return 0;
	}
	reading->adds = text[name_bytes] == '+';
	if (add_setting(reading, text, name_bytes, text + before, bytes - before, at))
		return -1;
	reading->adds = false;
	return 0;
}

/* Takes a list such as ALL,A=b,C='d,e', in which quotes keep commas. */
static int take_export_list(struct reading *reading, const char *list,
			    const struct osp_shell_word *at)
{
	while (*list) {
		size_t length = 0, skip = 0;
		char quote = '\0';

		for (; list[length] && (quote || list[length] != ','); length++) {
			if (list[length] == '\'' || list[length] == '"')
				quote = !quote			? list[length]
					: quote == list[length] ? '\0'
								: quote;
		}
		if (length > 1 && (*list == '\'' || *list == '"') && list[length - 1] == *list)
			skip = 1;
		if (take_assignment(reading, list + skip, length - 2 * skip, at))
			return -1;
		list += length + (list[length] == ',');
	}
	return 0;
}

/* --- commands --------------------------------------------------------------------------------- */

static const char *const reserved[] = {"if",	"then", "else", "elif", "do", "while",
				       "until", "!",	"{",	"time", NULL};
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
	bool exporting, unexporting, env;
	bool launcher, mpi, container, shell;
};

static int read_inner(struct reading *reading, const struct osp_shell_word *word);

/* Notes a program or a builtin, which decides what its arguments may set. */
static void note_program(struct command *command, const char *word)
{
	const char *name = osp_shell_base_name(word);

	command->leading = !strcmp(name, "env") || !strcmp(name, "exec") ||
			   osp_shell_is_one_of(name, reserved);
	command->exporting |= osp_shell_is_one_of(name, exporters);
	command->env |= !strcmp(name, "env");
	command->launcher |= osp_shell_is_one_of(name, launchers);
	command->mpi |= osp_shell_is_one_of(name, mpi);
	command->container |= osp_shell_is_one_of(name, containers);
	command->shell |= osp_shell_is_one_of(name, shells);
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

/* Reads the text that a shell's -c at `index` gives it. Returns how many words that are, 0 for
 * none, or -1. */
static int take_text(struct reading *reading, const struct command *command, size_t index)
{
	size_t at = find_command(command, index);
	int rc;

	if (at >= command->count)
		return 0;
	reading->step = command->launcher;
	rc = read_inner(reading, &command->words[at]);
	reading->step = false;
	reading->inner = true;
	return rc ? -1 : (int)(at - index + 1);
}

/* Takes an option of a launcher that sets a variable, with the words after it. Returns how many
 * words it took, 0 for none, or -1. */
static int take_option(struct reading *reading, const struct command *command, size_t index)
{
	const struct osp_shell_word *word = &command->words[index];
	const struct osp_shell_word *next = index + 1 < command->count ? word + 1 : NULL;
	const char *value;
	int rc = 0;

	if (command->launcher && (value = after(word->text, "--export=")))
		return take_export_list(reading, value, word) ? -1 : 1;
	if (command->container && (value = after(word->text, "--env=")))
		return take_assignment(reading, value, strlen(value), word) ? -1 : 1;
	if (!next)
		return 0;
	if (command->launcher && !strcmp(word->text, "--export"))
		rc = take_export_list(reading, next->text, next);
	else if ((command->mpi && !strcmp(word->text, "-x")) ||
		 (command->container &&
		  (!strcmp(word->text, "-e") || !strcmp(word->text, "--env"))))
		rc = take_assignment(reading, next->text, strlen(next->text), next);
	else if (command->shell && !reading->outer && gives_command(word->text))
		return take_text(reading, command, index);
	else if (command->mpi && index + 2 < command->count &&
		 (!strcmp(word->text, "-env") || !strcmp(word->text, "-genv")))
		return add_setting(reading, next->text, strlen(next->text), word[2].text,
				   strlen(word[2].text), next)
			       ? -1
			       : 3;
	else
		return 0;
	return rc ? -1 : 2;
}

/* Takes a word of `:`, as in : ${A:=b}. */
static int take_default(struct reading *reading, const struct osp_shell_word *word)
{
	const char *text = word->text, *value;
	size_t name_bytes = strncmp(text, "${", 2) ? 0 : strcspn(text + 2, ":="), value_bytes;

	if (!name_bytes || !word->unexpanded ||
	    !osp_value_is_default(text, strlen(text), text + 2, name_bytes, &value, &value_bytes) ||
	    value[-1] != '=')
		return 0;
	return add_setting(reading, text + 2, name_bytes, text, strlen(text), word);
}

/* Reads the options in A='--export=ALL,B=c', for a launcher that is named elsewhere. */
static int take_options_in(struct reading *reading, const struct osp_shell_word *word)
{
	const char *value = strchr(word->text, '=') + 1;
	struct osp_shell_word inner = *word;

	inner.text = value;
	if (reading->outer || value[strspn(value, " \t\n")] != '-')
		return 0;
	return read_inner(reading, &inner);
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
static void take_unset(struct reading *reading, const struct osp_shell_word *words, size_t count)
{
	for (size_t i = 1; i < count && strcmp(words[i].text, "-f") != 0; i++) {
		const char *name = words[i].text;

		if (*name == '-')
			continue;
		end_settings(reading, name, strlen(name), OSP_COURSE_UNSET);
		if (reading->outer)
			hide(reading, name);
	}
}

/* Takes an option of `env` that hides a variable: -u A, -uA, --unset=A. */
static void take_env_option(struct reading *reading, const struct command *command, size_t index)
{
	const char *text = command->words[index].text, *name = NULL;

	if (!strcmp(text, "-u") || !strcmp(text, "--unset"))
		name = index + 1 < command->count ? command->words[index + 1].text : NULL;
	else if (after(text, "--unset="))
		name = after(text, "--unset=");
	else if (after(text, "-u"))
		name = after(text, "-u");
	if (name)
		hide(reading, name);
}

/* Takes a word that is no setting and no option of a launcher. */
static void take_word(struct reading *reading, struct command *command, size_t index)
{
	const char *text = command->words[index].text;

	if (command->env && command->leading && *text == '-')
		take_env_option(reading, command, index);
	if (command->exporting)
		command->unexporting |= !strcmp(text, "-n") || !strcmp(text, "+x");
	if (command->leading && *text == '-') /* env -i A=b: options end nothing */
		return;
	if (command->exporting && command->unexporting)
		end_settings(reading, text, strlen(text), OSP_COURSE_UNEXPORTED);
	else if (command->exporting)
		export_name(reading, text, strlen(text));
	note_program(command, text);
	reading->lasting |= command->exporting;
}

/* Reads the text of each $(...) in a word. Its options are not those of the job's steps. */
static int take_substitutions(struct reading *reading, const struct osp_shell_word *word)
{
	const char *at = word->text, *end = at + strlen(at), *body;
	struct osp_shell_word inner = *word;
	size_t bytes;
	int rc = 0;

	reading->in_words = true;
	while (!rc && word->unexpanded && !reading->outer &&
	       reading->substituted_bytes < SUBSTITUTED_BYTES_MAX &&
	       (body = osp_shell_substitution(at, (size_t)(end - at), &bytes))) {
		reading->substituted_bytes += bytes;
		if (word->whole_lines)
			inner.line += osp_shell_line_feeds(at, (size_t)(body - at));
		at = body;
		inner.text = osp_arena_copy(&reading->script->arena, body, bytes);
		rc = inner.text ? read_inner(reading, &inner) : -1;
	}
	reading->in_words = false;
	return rc;
}

/* Takes the words of a command one after the other. */
static int take_words(struct reading *reading, struct command *command)
{
	size_t name_bytes;

	for (size_t i = 0; i < command->count;) {
		const struct osp_shell_word *word = &command->words[i];
		int taken = take_option(reading, command, i);

		if (taken < 0)
			return -1;
		if (taken) {
			i += (size_t)taken;
			continue;
		}
		if (!(command->leading || command->exporting) ||
		    !osp_shell_is_assignment(word->text, &name_bytes))
			take_word(reading, command, i);
		else if (take_assignment(reading, word->text, strlen(word->text), word) ||
			 take_options_in(reading, word))
			return -1;
		else if (command->unexporting)
			end_settings(reading, word->text, name_bytes, OSP_COURSE_UNEXPORTED);
		if (take_substitutions(reading, word))
			return -1;
		i++;
	}
	return 0;
}

/* Reads the text of eval "TEXT", and ends what `read` and printf -v set to something unknown. */
static int take_builtin(struct reading *reading, const struct osp_shell_word *words, size_t count)
{
	const char *name = words[0].text, *set = NULL;
	int rc;

	if (!strcmp(name, "eval") && count == 2 && !words[1].unexpanded && !reading->outer) {
		reading->evaluates = true;
		rc = read_inner(reading, &words[1]);
		reading->evaluates = false;
		reading->inner = true;
		return rc;
	}
	if (!strcmp(name, "read") && count > 1)
		set = words[count - 1].text;
	else if (!strcmp(name, "printf") && count > 2 && !strcmp(words[1].text, "-v"))
		set = words[2].text;
	if (set)
		end_settings(reading, set, strlen(set), OSP_COURSE_UNSET);
	return 0;
}

/* Takes a command that sets variables by itself. Returns 1 if it is one, or -1. */
static int take_setter(struct reading *reading, const struct osp_shell_word *words, size_t count)
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
	return add_setting(reading, words[1].text, strlen(words[1].text), words[2].text,
			   strlen(words[2].text), &words[1])
		       ? -1
		       : 1;
}

/* Keeps the options of a command, and notes whether it is an srun on one node. */
static int keep_options(struct reading *reading, const struct osp_shell_word *words, size_t count)
{
	struct osp_script_options *kept = &reading->script->options;
	struct osp_flow *flow = &reading->courses.flow;
	size_t steps = kept->commands;
	bool branch = osp_flow_may_not_run(flow, osp_flow_block(flow));

	if (osp_script_options_of_command(kept, &reading->script->arena, words, count,
					  reading->outer && reading->step,
					  branch ? OSP_DOUBT_BRANCH : OSP_DOUBT_NONE))
		return -1;
	if (!reading->outer)
		reading->one_node =
			kept->commands > steps &&
			osp_option_number(osp_command_option(kept, kept->commands, "nodes")) == 1;
	return 0;
}

static int take_command(void *context, const struct osp_shell_word *words, size_t count)
{
	/* options without a program belong to an array */
	bool options = count && *words[0].text == '-';
	struct command command = {.words = words,
				  .count = count,
				  .leading = true,
				  .launcher = options,
				  .mpi = options,
				  .container = options};
	struct reading *reading = context;
	size_t skipped = osp_flow_command(&reading->courses.flow, words, count);
	int rc;

	reading->begun = true;
	reading->inner = false;
	reading->alone = is_only_assignments(words, count);
	reading->lasting = is_only_assignments(words + skipped, count - skipped);
	if (!reading->in_words && keep_options(reading, words + skipped, count - skipped))
		return -1;
	rc = take_setter(reading, words + skipped, count - skipped);
	if (rc < 0 || (!rc && take_words(reading, &command)))
		return -1;
	if (!reading->inner &&
	    osp_flow_starts_program(&reading->courses.flow, words + skipped, count - skipped))
		osp_course_start(&reading->courses, reading->script->settings);
	if (!reading->outer)
		osp_course_command_ends(&reading->courses);
	return 0;
}

static void take_mark(void *context, enum osp_shell_mark mark)
{
	struct reading *reading = context;

	osp_flow_mark(&reading->courses.flow, mark);
}

/* --- comments --------------------------------------------------------------------------------- */

/* Notes a command of a script in another language, whose words are not the shell's. */
static int pass_command(void *context, const struct osp_shell_word *words, size_t count)
{
	struct reading *reading = context;

	(void)words;
	(void)count;
	reading->begun = true;
	return 0;
}

/* Finds the option, but not one that begins like it. Returns where it ends; `bytes` if it is not
 * there. */
static size_t find_export(const char *text, size_t bytes, const char *option, size_t length,
			  const char **found)
{
	const char *at = text;
	size_t end = bytes;

	while ((at = memmem(at, bytes - (size_t)(at - text), option, length))) {
		*found = at;
		at += length;
		end = (size_t)(at - text);
		if (end >= bytes || *at == '=' || *at == ' ')
			return end;
	}
	return bytes;
}

/* Takes #SBATCH --export=..., read as Slurm does: blanks separate words, quotes keep them together.
 * A line that begins with #! begins a script, even in a here-document. */
static int take_comment(void *context, const char *text, size_t bytes, int line)
{
	static const char mark[] = "#SBATCH", option[] = "--export";
	struct osp_shell_word at = {.line = line};
	struct reading *reading = context;
	size_t start, end;
	char quote = '\0', *list;
	const char *found = text;
	int rc;

	if (bytes > 1 && text[1] == '!')
		reading->begun = false;
	if (bytes < sizeof(mark) || memcmp(text, mark, sizeof(mark) - 1) != 0)
		return 0;
	if (osp_script_options_of_comment(&reading->script->options, &reading->script->arena, text,
					  bytes, line, reading->begun))
		return -1;
	if (reading->begun)
		return 0;
	reading->lasting = true;
	start = find_export(text, bytes, option, sizeof(option) - 1, &found);
	if (start >= bytes)
		return 0;
	for (start++; start < bytes && text[start] == ' '; start++)
		;
	for (end = start; end < bytes && (quote || !strchr(" \t\r", text[end])); end++) {
		if (text[end] == '\'' || text[end] == '"')
			quote = !quote ? text[end] : quote == text[end] ? '\0' : quote;
	}
	if (end - start > 1 && text[start] == '"' && text[end - 1] == '"') {
		start++;
		end--;
	}
	at.column = (int)(found - text) + 1;
	list = osp_arena_copy(&reading->script->arena, text + start, end - start);
	if (!list)
		return -1;
	rc = take_export_list(reading, list, &at);
	return rc;
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* Reads the text after -c, one level deep. */
static int read_inner(struct reading *reading, const struct osp_shell_word *word)
{
	struct osp_shell_reader reader = {reading, take_command, NULL, false, take_mark};
	struct osp_flow_place place = osp_flow_enter(&reading->courses.flow, !reading->evaluates);
	bool alone = reading->alone, lasting = reading->lasting, inner = reading->inner;
	int rc;

	reading->outer = word;
	rc = osp_shell_read(word->text, strlen(word->text), &reader);
	reading->outer = NULL;
	reading->alone = alone;
	reading->lasting = lasting;
	reading->inner = inner;
	osp_flow_leave(&reading->courses.flow, place);
	return rc;
}

struct osp_script *osp_script_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error)
{
	struct osp_script *script = calloc(1, sizeof(*script));
	struct reading reading = {.script = script};
	struct osp_shell_reader reader = {&reading, take_command, take_comment, false, take_mark};
	int rc = -1;

	if (!script) {
		osp_error_at(error, file, 0, 0, "out of memory");
		return NULL;
	}
	if (text_bytes > OSP_SCRIPT_BYTES_MAX) {
		osp_error_at(error, file, 0, 0, "larger than %zu bytes: no job script",
			     OSP_SCRIPT_BYTES_MAX);
	} else {
		if (osp_shell_is_foreign(text, text_bytes))
			reader.command = pass_command;
		script->dos_line = osp_shell_dos_line(text, text_bytes);
		rc = script->dos_line ? osp_shell_read_dos(text, text_bytes, &reader)
				      : osp_shell_read(text, text_bytes, &reader);
		if (rc && reading.too_many)
			osp_error_at(error, file, 0, 0, "sets more than %d variables",
				     OSP_SCRIPT_SETTINGS_MAX);
		else if (rc && script->options.too_many)
			osp_error_at(error, file, 0, 0, "has more than %d options",
				     OSP_SCRIPT_OPTIONS_MAX);
		else if (rc)
			osp_error_at(error, file, 0, 0, "out of memory");
	}
	osp_course_finish(&reading.courses, script->settings);
	osp_courses_free(&reading.courses);
	if (!rc)
		return script;
	osp_script_free(script);
	return NULL;
}

int osp_script_dos_line(const struct osp_script *script)
{
	return script->dos_line;
}

void osp_script_free(struct osp_script *script)
{
	if (!script)
		return;
	osp_script_options_free(&script->options);
	osp_arena_free(&script->arena);
	free(script->settings);
	free(script);
}

size_t osp_script_count(const struct osp_script *script)
{
	return script->count;
}

const struct osp_setting *osp_script_at(const struct osp_script *script, size_t index)
{
	return &script->settings[index];
}

const struct osp_script_options *osp_script_options(const struct osp_script *script)
{
	return &script->options;
}
