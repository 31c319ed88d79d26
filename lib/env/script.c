/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.c - the settings of a job script: which words of which commands set a variable
 */
#include "onespine_config.h"
#include "lib/env/env_lint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/text.h"
#include "lib/env/shell_text.h"

#define VALUE_BYTES_MAX 4096 /* of a value made of other variables */

struct osp_script {
	struct osp_arena arena;
	struct osp_script_options options;
	struct osp_setting *settings;
	size_t count, room;
};

/* The state while one script is read; `outer` is a word whose text is read as a script. */
struct reading {
	struct osp_script *script;
	const struct osp_shell_word *outer;
	bool begun;    /* a command was read: Slurm reads no #SBATCH after the first */
	bool step;     /* srun runs `outer`, so each task does */
	bool one_node; /* the command is an srun on one node */
	bool alone;    /* the command consists of assignments only */
	bool too_many;
};

/* Returns whether `value` is ${NAME:-words} of this name, or has - = := instead of :-; `words` then
 * gets them. */
static bool is_default(const char *value, size_t value_bytes, const char *name, size_t name_bytes,
		       const char **words, size_t *word_bytes)
{
	size_t at = 2 + name_bytes, count;

	if (value_bytes < at + 2 || memcmp(value, "${", 2) != 0 ||
	    memcmp(value + 2, name, name_bytes) != 0 || value[value_bytes - 1] != '}')
		return false;
	at += value[at] == ':';
	if (!strchr("-=", value[at]))
		return false;
	count = value_bytes - at - 2;
	if (memchr(value + at + 1, '$', count) || memchr(value + at + 1, '`', count))
		return false;
	*words = value + at + 1;
	*word_bytes = count;
	return true;
}

/* Returns whether all that a shell substitutes in the value is the variable's earlier value. */
static bool is_extended(const char *value, size_t value_bytes, const char *name, size_t name_bytes)
{
	const char *at = value, *end = value + value_bytes;
	bool own = false;

	for (; (at = memchr(at, '$', (size_t)(end - at))); at += name_bytes, own = true) {
		at += at + 1 < end && at[1] == '{' ? 2 : 1;
		if ((size_t)(end - at) < name_bytes || memcmp(at, name, name_bytes) != 0 ||
		    (at + name_bytes < end &&
		     (isalnum((unsigned char)at[name_bytes]) || at[name_bytes] == '_')))
			return false;
	}
	return own && !memchr(value, '`', value_bytes);
}

/* Returns whether the value is only the variable's own: $A or ${A}. */
static bool is_same(const char *value, size_t value_bytes, const char *name, size_t name_bytes)
{
	bool braced = value_bytes == name_bytes + 3;

	if (value_bytes < 2 || value[0] != '$' || (!braced && value_bytes != name_bytes + 1))
		return false;
	return !memcmp(value + 1 + braced, name, name_bytes) &&
	       (!braced || (value[1] == '{' && value[value_bytes - 1] == '}'));
}

/* Returns the value to which the script has set a variable so far: NULL if it has not, or to
 * several values. */
static const char *only_value(const struct osp_script *script, const char *name, size_t name_bytes)
{
	const char *value = NULL;

	for (size_t i = 0; i < script->count; i++) {
		const struct osp_setting *one = &script->settings[i];

		if (strncmp(one->name, name, name_bytes) != 0 || one->name[name_bytes])
			continue;
		if (one->unexpanded || (value && strcmp(value, one->value)))
			return NULL;
		value = one->value;
	}
	return value;
}

/* Returns the length of a variable's name at `text`. */
static size_t name_length(const char *text, const char *end)
{
	size_t length = 0;

	while (text + length < end && (isalnum((unsigned char)text[length]) || text[length] == '_'))
		length++;
	return length && !isdigit((unsigned char)*text) ? length : 0;
}

/*
 * Replaces $X and ${X} by values that the script set before: `known` gets the result. It stays NULL
 * if a shell substitutes anything else, or a variable is unknown. Returns -1 if memory ran out.
 */
static int expand(const struct osp_script *script, const char *value, size_t value_bytes,
		  char **known)
{
	const char *at = value, *end = value + value_bytes, *next;
	struct osp_text text = OSP_TEXT_INIT;

	for (; (next = memchr(at, '$', (size_t)(end - at))); at = next) {
		bool braced = next + 1 < end && next[1] == '{';
		const char *name = next + 1 + braced, *one;
		size_t length = name_length(name, end);

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

static int append(struct osp_script *script, const struct osp_setting *setting)
{
	size_t room = script->room ? script->room * 2 : 64;
	struct osp_setting *larger;

	if (script->count == script->room) {
		larger = realloc(script->settings, room * sizeof(*larger));
		if (!larger)
			return -1;
		script->settings = larger;
		script->room = room;
	}
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
	    is_default(value, value_bytes, name, name_bytes, &value, &value_bytes)) {
		setting.unexpanded = false;
		setting.fallback = true;
	}
	setting.extends = setting.unexpanded && is_extended(value, value_bytes, name, name_bytes);
	if (setting.unexpanded && !setting.extends && expand(script, value, value_bytes, &known))
		return -1;
	setting.unexpanded &= !known;
	setting.name = osp_arena_copy(&script->arena, name, name_bytes);
	setting.value = known ? osp_arena_copy(&script->arena, known, strlen(known))
			      : osp_arena_copy(&script->arena, value, value_bytes);
	free(known);
	return setting.name && setting.value ? append(script, &setting) : -1;
}

/* Marks the earlier settings of a variable as exported, because of `export NAME`. */
static void export_name(struct osp_script *script, const char *name, size_t name_bytes)
{
	for (size_t i = 0; i < script->count; i++) {
		struct osp_setting *one = &script->settings[i];

		one->own &= strncmp(one->name, name, name_bytes) != 0 || one->name[name_bytes];
	}
}

/* Takes A=b or A+=b of `bytes` bytes; anything else is no setting. */
static int take_assignment(struct reading *reading, const char *text, size_t bytes,
			   const struct osp_shell_word *at)
{
	struct osp_script *script = reading->script;
	struct osp_setting *setting;
	size_t name_bytes, before;

	if (!osp_shell_is_assignment(text, &name_bytes) || name_bytes >= bytes)
		return 0;
	before = name_bytes + (text[name_bytes] == '+' ? 2 : 1);
	if (before > bytes)
		return 0;
	if (text[name_bytes] != '+' && at->unexpanded &&
	    is_same(text + before, bytes - before, text, name_bytes)) {
		export_name(script, text, name_bytes);
		return 0;
	}
	if (add_setting(reading, text, name_bytes, text + before, bytes - before, at))
		return -1;
	if (text[name_bytes] == '+') {
		setting = &script->settings[script->count - 1];
		setting->extends |= !setting->unexpanded;
		setting->unexpanded = true;
	}
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

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++) {
		if (!strcmp(word, *words))
			return true;
	}
	return false;
}

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
	bool exporting;
	bool launcher, mpi, container, shell;
};

static int read_inner(struct reading *reading, const struct osp_shell_word *word);

/* Notes a program or a builtin, which decides what its arguments may set. */
static void note_program(struct command *command, const char *word)
{
	const char *name = osp_shell_base_name(word);

	command->leading =
		!strcmp(name, "env") || !strcmp(name, "exec") || is_one_of(name, reserved);
	command->exporting |= is_one_of(name, exporters);
	command->launcher |= is_one_of(name, launchers);
	command->mpi |= is_one_of(name, mpi);
	command->container |= is_one_of(name, containers);
	command->shell |= is_one_of(name, shells);
}

static const char *after(const char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) ? NULL : word + length;
}

/* Returns whether a shell's option says that a command follows: -c, also beside others, as -lc. */
static bool gives_command(const char *option)
{
	size_t letters = strspn(option + (*option == '-'), "abcefhiklmnprtuvxBCEHPT");

	return *option == '-' && letters && !option[1 + letters] && option[letters] == 'c';
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
	else if (command->shell && !reading->outer && gives_command(word->text)) {
		reading->step = command->launcher;
		rc = read_inner(reading, next);
		reading->step = false;
	} else if (command->mpi && index + 2 < command->count &&
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
	    !is_default(text, strlen(text), text + 2, name_bytes, &value, &value_bytes) ||
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
	struct osp_script_options *kept = &reading->script->options;
	size_t steps = kept->commands, name_bytes;

	reading->begun = true;
	reading->alone = is_only_assignments(words, count);
	if (osp_script_options_of_command(kept, &reading->script->arena, words, count))
		return -1;
	if (!reading->outer)
		reading->one_node =
			kept->commands > steps &&
			osp_option_number(osp_command_option(kept, kept->commands, "nodes")) == 1;
	for (size_t i = 1; i < count && !strcmp(words[0].text, ":"); i++) {
		if (take_default(reading, &words[i]))
			return -1;
	}
	if (count >= 3 && !strcmp(words[0].text, "setenv"))
		return add_setting(reading, words[1].text, strlen(words[1].text), words[2].text,
				   strlen(words[2].text), &words[1]);
	for (size_t i = 0; i < count;) {
		const char *text = words[i].text;
		int taken = take_option(reading, &command, i);

		if (taken < 0)
			return -1;
		if (taken) {
			i += (size_t)taken;
			continue;
		}
		if ((command.leading || command.exporting) &&
		    osp_shell_is_assignment(text, &name_bytes)) {
			if (take_assignment(reading, text, strlen(text), &words[i]) ||
			    take_options_in(reading, &words[i]))
				return -1;
		} else if (!command.leading || *text != '-') {
			if (command.exporting)
				export_name(reading->script, text, strlen(text));
			note_program(&command, text); /* env -i A=b: options end nothing */
		}
		i++;
	}
	return 0;
}

/* --- comments --------------------------------------------------------------------------------- */

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
	if (reading->begun || bytes < sizeof(mark) || memcmp(text, mark, sizeof(mark) - 1) != 0)
		return 0;
	if (osp_script_options_of_comment(&reading->script->options, &reading->script->arena, text,
					  bytes, line))
		return -1;
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

static int pass_comment(void *context, const char *text, size_t bytes, int line)
{
	(void)context;
	(void)text;
	(void)bytes;
	(void)line;
	return 0;
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* Reads the text after -c, one level deep. */
static int read_inner(struct reading *reading, const struct osp_shell_word *word)
{
	struct osp_shell_reader reader = {reading, take_command, pass_comment, false};
	bool alone = reading->alone;
	int rc;

	reading->outer = word;
	rc = osp_shell_read(word->text, strlen(word->text), &reader);
	reading->outer = NULL;
	reading->alone = alone;
	return rc;
}

struct osp_script *osp_script_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error)
{
	struct osp_script *script = calloc(1, sizeof(*script));
	struct reading reading = {.script = script};
	struct osp_shell_reader reader = {&reading, take_command, take_comment, false};

	if (!script) {
		osp_error_at(error, file, 0, 0, "out of memory");
		return NULL;
	}
	if (text_bytes > OSP_SCRIPT_BYTES_MAX)
		osp_error_at(error, file, 0, 0, "larger than %zu bytes: no job script",
			     OSP_SCRIPT_BYTES_MAX);
	else if (!osp_shell_read(text, text_bytes, &reader))
		return script;
	else if (reading.too_many)
		osp_error_at(error, file, 0, 0, "sets more than %d variables",
			     OSP_SCRIPT_SETTINGS_MAX);
	else
		osp_error_at(error, file, 0, 0, "out of memory");
	osp_script_free(script);
	return NULL;
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
