/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options_parse.c - the words of `onespine`: which command, which options */
#include "tools/command/options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* getopt_long() returns these numbers for long options; no letter has them. */
#define LONG_OPTION_BASE 1000

#define BIT(command)	 (1u << (command))

/* --- commands --------------------------------------------------------------------------------- */

/* Writes the first word of a command's name to `buffer`. */
static const char *first_word(const struct osp_command *command, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "%.*s", (int)strcspn(command->name, " "), command->name);
	return buffer;
}

static const char *second_word(const struct osp_command *command)
{
	const char *blank = strchr(command->name, ' ');

	return blank ? blank + 1 : NULL;
}

/* Lists the words that follow `group`, for an error: "import, show or check". Returns 0 if it is no
 * group. */
static size_t words_of_group(const char *group, const char **words)
{
	size_t count = 0;
	char first[32];
	int id;

	for (id = 0; id < OSP_COMMAND_COUNT; id++)
		if (second_word(osp_command(id)) &&
		    strcmp(first_word(osp_command(id), first, sizeof(first)), group) == 0)
			words[count++] = second_word(osp_command(id));
	return count;
}

/* Words for what a command does that are near no command's name. */
static const struct {
	const char *word, *meant;
} other_words[] = {
	{"lint", "env --script FILE"},
	{"script", "env --script FILE"},
	{"shellcheck", "env --script FILE"},
};

static int unknown_word(const char *what, const char *word, const char *const *words, size_t count,
			struct osp_error *error)
{
	const char *nearest = osp_nearest_word(word, words, count);

	if (nearest)
		return osp_error_set(error, "unknown %s '%s'; did you mean %s?", what, word,
				     nearest);
	return osp_error_set(error, "unknown %s '%s'; see onespine --help", what, word);
}

static int find_in_group(char **words, int count, const char *const *seconds, size_t second_count,
			 enum osp_command_id *id, int *used, struct osp_error *error)
{
	struct osp_text list = OSP_TEXT_INIT;
	char first[32];
	size_t i;
	int n;

	for (n = 0; count > 1 && n < OSP_COMMAND_COUNT; n++) {
		const char *second = second_word(osp_command(n));

		if (second && strcmp(second, words[1]) == 0 &&
		    strcmp(first_word(osp_command(n), first, sizeof(first)), words[0]) == 0) {
			*id = n;
			*used = 2;
			return 0;
		}
	}
	if (count > 1) {
		snprintf(first, sizeof(first), "%.20s command", words[0]);
		return unknown_word(first, words[1], seconds, second_count, error);
	}
	for (i = 0; i < second_count; i++)
		osp_text_printf(&list, "%s%s",
				i == 0		       ? ""
				: i + 1 < second_count ? ", "
						       : " or ",
				seconds[i]);
	osp_error_set(error, "onespine %s needs another word: %s", words[0],
		      list.data ? list.data : "");
	osp_text_free(&list);
	return -1;
}

int osp_command_find(char **words, int count, enum osp_command_id *id, int *used,
		     struct osp_error *error)
{
	const char *names[OSP_COMMAND_COUNT];
	char firsts[OSP_COMMAND_COUNT][32];
	size_t group;
	int n;

	group = words_of_group(words[0], names);
	for (n = 0; n < OSP_COMMAND_COUNT; n++) {
		if (strcmp(osp_command(n)->name, words[0]) != 0)
			continue;
		/* "bind" is a command, and "bind run" is one too. */
		if (group && count > 1 &&
		    find_in_group(words, count, names, group, id, used, NULL) == 0)
			return 0;
		*id = n;
		*used = 1;
		return 0;
	}
	if (group)
		return find_in_group(words, count, names, group, id, used, error);
	for (n = 0; n < OSP_COMMAND_COUNT; n++)
		names[n] = first_word(osp_command(n), firsts[n], sizeof(firsts[n]));
	for (size_t i = 0; i < sizeof(other_words) / sizeof(other_words[0]); i++) {
		if (!strcasecmp(words[0], other_words[i].word))
			return osp_error_set(error, "unknown command '%s'; did you mean %s?",
					     words[0], other_words[i].meant);
	}
	return unknown_word("command", words[0], names, OSP_COMMAND_COUNT, error);
}

/* --- options ---------------------------------------------------------------------------------- */

struct getopt_tables {
	struct option longs[OSP_OPTION_COUNT + 1];
	char letters[3 * OSP_OPTION_COUNT + 3];
};

/* Builds the tables of getopt. The prefix '+' (before a command is known) makes it stop at the
 * first word that is no option. */
static void build_tables(unsigned int command_bits, const char *prefix,
			 struct getopt_tables *tables)
{
	size_t count = 0;
	size_t letters;
	int id;

	memset(tables, 0, sizeof(*tables));
	letters = (size_t)snprintf(tables->letters, sizeof(tables->letters), "%s:", prefix);
	for (id = 0; id < OSP_OPTION_COUNT; id++) {
		const struct osp_option *option = osp_option(id);

		if ((option->commands & command_bits) != command_bits)
			continue;
		tables->longs[count].name = option->name;
		tables->longs[count].has_arg = !option->argument	   ? no_argument
					       : option->argument_optional ? optional_argument
									   : required_argument;
		tables->longs[count++].val = LONG_OPTION_BASE + id;
		if (option->letter)
			tables->letters[letters++] = option->letter;
		if (option->letter && option->argument)
			tables->letters[letters++] = ':';
	}
}

static int unknown_option(const char *written, const struct getopt_tables *tables,
			  struct osp_error *error)
{
	const char *names[OSP_OPTION_COUNT];
	const char *nearest;
	size_t count = 0;
	char word[64];

	if (strncmp(written, "--", 2) != 0)
		return osp_error_set(error, "unknown option %.60s", written);
	while (tables->longs[count].name) {
		names[count] = tables->longs[count].name;
		count++;
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(written + 2, "="), written + 2);
	nearest = osp_nearest_word(word, names, count);
	if (nearest)
		return osp_error_set(error, "unknown option --%s; did you mean --%s?", word,
				     nearest);
	return osp_error_set(error, "unknown option --%s", word);
}

static int option_error(int answer, char *written, const struct getopt_tables *tables,
			struct osp_error *error)
{
	char letter[3] = {'-', (char)optopt, '\0'};
	int id = optopt - LONG_OPTION_BASE;

	if (optopt > 0 && optopt < LONG_OPTION_BASE)
		written = letter;
	if (answer == ':') {
		for (id = id < 0 ? 0 : id; id < OSP_OPTION_COUNT; id++)
			if (optopt >= LONG_OPTION_BASE || osp_option(id)->letter == optopt)
				return osp_error_set(error, "option %s needs a value: %s", written,
						     osp_option(id)->argument);
	}
	if (id >= 0 && id < OSP_OPTION_COUNT)
		return osp_error_set(error, "option --%s takes no value", osp_option(id)->name);
	return unknown_option(written, tables, error);
}

static int option_of_letter(int letter, unsigned int command_bits)
{
	int id;

	for (id = 0; id < OSP_OPTION_COUNT; id++)
		if (osp_option(id)->letter == letter &&
		    (osp_option(id)->commands & command_bits) == command_bits)
			return id;
	return -1;
}

/* Runs getopt over argv; the remaining words begin at argv[optind]. */
static int take_options(int argc, char **argv, unsigned int command_bits, const char *prefix,
			struct osp_call *call, struct osp_error *error)
{
	struct getopt_tables tables;
	int answer;

	build_tables(command_bits, prefix, &tables);
	opterr = 0;
	optind = 0; /* glibc: starts again from the beginning */
	for (;;) {
		int at = optind ? optind : 1;
		int id;

		answer = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
		if (answer == -1)
			return 0;
		if (answer == '?' || answer == ':')
			return option_error(answer, argv[optind > at ? optind - 1 : at], &tables,
					    error);
		id = answer >= LONG_OPTION_BASE ? answer - LONG_OPTION_BASE
						: option_of_letter(answer, command_bits);
		call->values[id] = optarg ? optarg : "";
	}
}

static int check_arguments(const struct osp_call *call, struct osp_error *error)
{
	const struct osp_command *command = osp_command(call->command);

	if (call->argument_count < command->arguments_least)
		return osp_error_set(error, "onespine %s needs %s", command->name,
				     command->arguments);
	if (call->argument_count > command->arguments_most && call->values[OSP_OPTION_GANG] &&
	    !*call->values[OSP_OPTION_GANG])
		return osp_error_set(
			error, "onespine %s: --gang takes its value after '=': type --gang=%.60s",
			command->name, call->arguments[command->arguments_most]);
	if (call->argument_count > command->arguments_most)
		return osp_error_set(error, "onespine %s: '%.60s' is one argument too many: %s%d",
				     command->name, call->arguments[command->arguments_most],
				     command->arguments_most ? "at most " : "it takes ",
				     command->arguments_most);
	return 0;
}

static void ask_for_help(struct osp_call *call, char **words, int count)
{
	call->command = OSP_HELP;
	call->arguments = words;
	call->argument_count = count;
}

/* Returns the prefix that leaves all words after the other program's name to that program. */
static const char *command_prefix(enum osp_command_id id)
{
	return id == OSP_BIND_RUN ? "+" : "";
}

int osp_options_parse(int argc, char **argv, struct osp_call *call, struct osp_error *error)
{
	char **words;
	int used;

	memset(call, 0, sizeof(*call));
	ask_for_help(call, NULL, 0);
	if (take_options(argc, argv, BIT(OSP_COMMAND_COUNT) - 1, "+", call, error) < 0)
		return -1;
	words = argv + optind;
	if (call->values[OSP_OPTION_VERSION])
		return 0;
	if (optind >= argc) {
		if (call->values[OSP_OPTION_HELP])
			return 0;
		return osp_error_set(error, "a command is needed; see onespine --help");
	}
	if (words[1] && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)) {
		ask_for_help(call, words, 1);
		return 0;
	}
	if (osp_command_find(words, argc - optind, &call->command, &used, error) < 0)
		return -1;
	/* getopt takes the last word of the command's name for the program's name. */
	argc -= optind + used - 1;
	words += used - 1;
	if (take_options(argc, words, BIT(call->command), command_prefix(call->command), call,
			 error) < 0)
		return -1;
	if (call->values[OSP_OPTION_HELP]) {
		ask_for_help(call, words - (used - 1), used);
		return 0;
	}
	call->arguments = words + optind;
	call->argument_count = argc - optind;
	return call->values[OSP_OPTION_VERSION] ? 0 : check_arguments(call, error);
}
