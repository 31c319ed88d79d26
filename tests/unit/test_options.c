/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_options.c - the option table: parsing, words of refusal, help, completion, the man page */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command/options.h"

#define WORDS_MAX 16

/* Splits `line` at blanks into an argv that begins with the program's name. */
static int split(char *line, char **argv)
{
	int argc = 1;
	char *word;

	argv[0] = "onespine";
	while ((word = strsep(&line, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

static int parse(char *line, struct osp_call *call, struct osp_error *error)
{
	static char *argv[WORDS_MAX];
	int argc = split(line, argv);

	osp_error_clear(error);
	return osp_options_parse(argc, argv, call, error);
}

/* --- parsing ---------------------------------------------------------------------------------- */

static void test_commands_and_values(void **state)
{
	char line[] = "topology import --from=ec2 a.json --allow-missing -o out b.json";
	struct osp_error error;
	struct osp_call call;

	(void)state;
	assert_int_equal(parse(line, &call, &error), 0);
	assert_int_equal(call.command, OSP_TOPOLOGY_IMPORT);
	assert_string_equal(call.values[OSP_OPTION_FROM], "ec2");
	assert_string_equal(call.values[OSP_OPTION_ALLOW_MISSING], "");
	assert_string_equal(call.values[OSP_OPTION_OUTPUT], "out");
	assert_null(call.values[OSP_OPTION_TO]);
	assert_int_equal(call.argument_count, 2);
	assert_string_equal(call.arguments[0], "a.json");
	assert_string_equal(call.arguments[1], "b.json");
}

static void test_letters_and_optional_values(void **state)
{
	char bare[] = "fit -N 12 --gang -p gpu -w n[1-2] -xn3";
	char given[] = "fit --nodes=4-8 --gang=core@30:00";
	struct osp_error error;
	struct osp_call call;

	(void)state;
	assert_int_equal(parse(bare, &call, &error), 0);
	assert_string_equal(call.values[OSP_OPTION_NODES], "12");
	assert_string_equal(call.values[OSP_OPTION_GANG], "");
	assert_string_equal(call.values[OSP_OPTION_PARTITION], "gpu");
	assert_string_equal(call.values[OSP_OPTION_NODELIST], "n[1-2]");
	assert_string_equal(call.values[OSP_OPTION_EXCLUDE], "n3");
	assert_int_equal(parse(given, &call, &error), 0);
	assert_string_equal(call.values[OSP_OPTION_NODES], "4-8");
	assert_string_equal(call.values[OSP_OPTION_GANG], "core@30:00");
	assert_null(call.values[OSP_OPTION_NAME_MAP]); /* the other --nodes */
}

/* What follows another program's name is that program's, options and all. */
static void test_commands_of_others(void **state)
{
	char plain[] = "bind run -v python3 train.py --json -v";
	char parted[] = "bind run -- -odd --help";
	char group[] = "bind --tasks 8";
	struct osp_error error;
	struct osp_call call;

	(void)state;
	assert_int_equal(parse(plain, &call, &error), 0);
	assert_int_equal(call.command, OSP_BIND_RUN);
	assert_non_null(call.values[OSP_OPTION_VERBOSE]);
	assert_null(call.values[OSP_OPTION_JSON]);
	assert_int_equal(call.argument_count, 4);
	assert_string_equal(call.arguments[3], "-v");
	assert_null(call.arguments[4]);
	assert_int_equal(parse(parted, &call, &error), 0);
	assert_int_equal(call.argument_count, 2);
	assert_string_equal(call.arguments[0], "-odd");
	assert_int_equal(parse(group, &call, &error), 0);
	assert_int_equal(call.command, OSP_BIND);
	assert_string_equal(call.values[OSP_OPTION_TASKS], "8");
}

static void test_help_and_version(void **state)
{
	static const struct {
		const char *line;
		int words;
	} cases[] = {
		{"--help", 0},
		{"-h", 0},
		{"fit --help", 1},
		{"fit -N 3 -h", 1},
		{"topology --help", 1},
		{"topology show --help", 2},
		{"bind --help", 1},
		{"bind run --help", 2},
		{"help topology show", 2},
		{"help", 0},
	};
	struct osp_error error;
	struct osp_call call;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[64];

		strcpy(line, cases[i].line);
		assert_int_equal(parse(line, &call, &error), 0);
		assert_int_equal(call.command, OSP_HELP);
		assert_int_equal(call.argument_count, cases[i].words);
	}
	{
		char first[] = "--version";
		char after[] = "audit -V";

		assert_int_equal(parse(first, &call, &error), 0);
		assert_non_null(call.values[OSP_OPTION_VERSION]);
		assert_int_equal(parse(after, &call, &error), 0);
		assert_non_null(call.values[OSP_OPTION_VERSION]);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line;
		const char *words;
	} cases[] = {
		{"", "a command is needed; see onespine --help"},
		{"adit", "unknown command 'adit'; did you mean audit?"},
		{"lint", "unknown command 'lint'; did you mean env --script FILE?"},
		{"frobnicate", "unknown command 'frobnicate'; see onespine --help"},
		{"topology", "onespine topology needs another word: import, show, check, discover, "
			     "watch, survey or accept"},
		{"config", "onespine config needs another word: check or show"},
		{"topology shw", "unknown topology command 'shw'; did you mean show?"},
		{"topology --json", "unknown topology command '--json'; see onespine --help"},
		{"--jsn fit", "unknown option --jsn"},
		{"fit --nodelst=x", "unknown option --nodelst; did you mean --nodelist?"},
		{"fit --svg=x", "unknown option --svg"},
		{"audit -q", "unknown option -q"},
		{"fit -N", "option -N needs a value: COUNT"},
		{"fit --partition", "option --partition needs a value: NAME[,NAME...]"},
		{"map --json=yes", "option --json takes no value"},
		{"set", "onespine set needs JOB"},
		{"bind run", "onespine bind run needs COMMAND..."},
		{"bind rum", "onespine bind: 'rum' is one argument too many: it takes 0"},
		{"bind --gpus", "option --gpus needs a value: COUNT"},
		{"why 1 2", "onespine why: '2' is one argument too many: at most 1"},
		{"audit now", "onespine audit: 'now' is one argument too many: it takes 0"},
		{"topology import --from=ec2", "onespine topology import needs FILE..."},
	};
	struct osp_error error;
	struct osp_call call;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[64];

		strcpy(line, cases[i].line);
		assert_int_equal(parse(line, &call, &error), -1);
		assert_string_equal(error.text, cases[i].words);
	}
}

/* --- the table itself ------------------------------------------------------------------------- */

static void test_table_is_sound(void **state)
{
	int command;
	int a;
	int b;

	(void)state;
	for (a = 0; a < OSP_OPTION_COUNT; a++) {
		const struct osp_option *option = osp_option(a);

		assert_non_null(option->name);
		assert_int_not_equal(option->commands, 0);
		assert_int_equal(option->help[strlen(option->help) - 1], '.');
		assert_int_equal(option->complete == OSP_COMPLETE_WORDS, option->words != NULL);
		assert_true(option->argument || !option->argument_optional);
		assert_null(strchr(option->help, '\n'));
	}
	for (command = 0; command < OSP_COMMAND_COUNT; command++)
		for (a = 0; a < OSP_OPTION_COUNT; a++)
			for (b = 0; b < a; b++)
				if (osp_command_has(command, a) && osp_command_has(command, b)) {
					assert_string_not_equal(osp_option(a)->name,
								osp_option(b)->name);
					assert_true(!osp_option(a)->letter ||
						    osp_option(a)->letter != osp_option(b)->letter);
				}
}

static void test_help_reports_every_option(void **state)
{
	int command;
	int option;

	(void)state;
	for (command = 0; command < OSP_COMMAND_COUNT; command++) {
		struct osp_text text = OSP_TEXT_INIT;
		char *help;

		osp_help_command(command, &text);
		help = osp_text_take(&text);
		assert_non_null(help);
		for (option = 0; option < OSP_OPTION_COUNT; option++) {
			struct osp_text synopsis = OSP_TEXT_INIT;

			if (!osp_command_has(command, option))
				continue;
			osp_text_add(&synopsis, "\n  ");
			osp_option_synopsis(osp_option(option), &synopsis);
			osp_text_add(&synopsis, "\n");
			assert_non_null(strstr(help, synopsis.data));
			osp_text_free(&synopsis);
		}
		for (char *line = help; line; line = strchr(line, '\n')) {
			line += *line == '\n';
			assert_true(strcspn(line, "\n") <= 80);
			if (!*line)
				break;
		}
		free(help);
	}
}

static void test_completion_offers_every_option(void **state)
{
	struct osp_text bash = OSP_TEXT_INIT;
	struct osp_text zsh = OSP_TEXT_INIT;
	int option;

	(void)state;
	osp_completion_bash(&bash);
	osp_completion_zsh(&zsh);
	for (option = 0; option < OSP_OPTION_COUNT; option++) {
		char word[64];

		snprintf(word, sizeof(word), "--%s", osp_option(option)->name);
		assert_non_null(strstr(bash.data, word));
		assert_non_null(strstr(zsh.data, word));
	}
	osp_text_free(&bash);
	osp_text_free(&zsh);
}

/* --- the man page ----------------------------------------------------------------------------- */

static char *read_man_page(void)
{
	const char *folder = getenv("srcdir");
	char path[512];
	size_t bytes;
	char *text;

	snprintf(path, sizeof(path), "%s/man/onespine.1", folder ? folder : ".");
	text = osp_read_file(path, 1 << 20, &bytes);
	if (!text)
		fail_msg("cannot read %s", path);
	return text;
}

/* ".It Fl N , Fl -nodes Ns = Ns Ar COUNT" and the help, as one line of words. */
static void expected_entry(const struct osp_option *option, struct osp_text *text)
{
	osp_text_add(text, ".It ");
	if (option->letter)
		osp_text_printf(text, "Fl %c , ", option->letter);
	osp_text_printf(text, "Fl -%s", option->name);
	if (option->argument)
		osp_text_printf(text, " Ns %s= Ns Ar %s", option->argument_optional ? "Op " : "",
				option->argument);
	osp_text_printf(text, "\n%s", option->help);
}

/* Lines of text that follow one another become one. */
static char *join_lines(const char *page)
{
	struct osp_text text = OSP_TEXT_INIT;
	const char *line = page;
	bool after_text = false;

	while (*line) {
		size_t length = strcspn(line, "\n");
		bool macro = *line == '.';

		osp_text_add(&text, macro || !after_text ? "\n" : " ");
		osp_text_add_bytes(&text, line, length);
		after_text = !macro;
		line += length + (line[length] == '\n');
	}
	osp_text_add(&text, "\n");
	return osp_text_take(&text);
}

static void test_man_page_has_the_same_words(void **state)
{
	char *page = read_man_page();
	char *joined = join_lines(page);
	int option;

	(void)state;
	for (option = 0; option < OSP_OPTION_COUNT; option++) {
		struct osp_text entry = OSP_TEXT_INIT;

		expected_entry(osp_option(option), &entry);
		if (!strstr(joined, entry.data))
			fail_msg("man/onespine.1 lacks, word for word:\n%s", entry.data);
		osp_text_free(&entry);
	}
	free(joined);
	free(page);
}

static void test_man_page_has_no_other_option(void **state)
{
	char *page = read_man_page();
	const char *at = page;
	int entries = 0;

	(void)state;
	while ((at = strstr(at, "\n.It Fl "))) {
		entries++;
		at++;
	}
	assert_int_equal(entries, OSP_OPTION_COUNT);
	free(page);
}

static void test_man_page_names_every_command(void **state)
{
	char *page = read_man_page();
	int command;

	(void)state;
	for (command = 0; command < OSP_COMMAND_COUNT; command++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "\n.Ss %s\n", osp_command(command)->name);
		if (!strstr(page, heading))
			fail_msg("man/onespine.1 has no section on %s", osp_command(command)->name);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_and_values),
		cmocka_unit_test(test_letters_and_optional_values),
		cmocka_unit_test(test_commands_of_others),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_table_is_sound),
		cmocka_unit_test(test_help_reports_every_option),
		cmocka_unit_test(test_completion_offers_every_option),
		cmocka_unit_test(test_man_page_has_the_same_words),
		cmocka_unit_test(test_man_page_has_no_other_option),
		cmocka_unit_test(test_man_page_names_every_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
