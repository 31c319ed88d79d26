/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.c - --help, written from the option table */
#include "tools/command/options.h"

#include <string.h>

#define WIDTH	      80
#define OPTION_INDENT 6

void osp_help_wrap(struct osp_text *text, const char *words, size_t indent)
{
	size_t column = 0;

	while (*words) {
		size_t length = strcspn(words, " ");

		if (column && column + 1 + length > WIDTH) {
			osp_text_add(text, "\n");
			column = 0;
		}
		osp_text_printf(text, "%*s%.*s", column ? 1 : (int)indent, "", (int)length, words);
		column += (column ? 1 : indent) + length;
		words += length;
		words += strspn(words, " ");
	}
	osp_text_add(text, "\n");
}

void osp_option_synopsis(const struct osp_option *option, struct osp_text *text)
{
	if (option->letter)
		osp_text_printf(text, "-%c, ", option->letter);
	osp_text_printf(text, "--%s", option->name);
	if (option->argument)
		osp_text_printf(text, option->argument_optional ? "[=%s]" : "=%s",
				option->argument);
}

void osp_help_command(enum osp_command_id id, struct osp_text *text)
{
	const struct osp_command *command = osp_command(id);
	int option;

	osp_text_printf(text, "Usage: onespine %s [OPTION]...%s%s\n\n", command->name,
			*command->arguments ? " " : "", command->arguments);
	osp_text_printf(text, "%s\n", command->summary);
	if (*command->details) {
		osp_text_add(text, "\n");
		osp_help_wrap(text, command->details, 0);
	}
	osp_text_add(text, "\nOptions\n");
	for (option = 0; option < OSP_OPTION_COUNT; option++) {
		if (!osp_command_has(id, option))
			continue;
		osp_text_add(text, "  ");
		osp_option_synopsis(osp_option(option), text);
		osp_text_add(text, "\n");
		osp_help_wrap(text, osp_option(option)->help, OPTION_INDENT);
	}
	osp_text_add(text, "\nExit status\n  0  ");
	osp_text_add(text, command->answers ? "yes, done\n  1  " : "done\n");
	if (command->answers)
		osp_text_printf(text, "%s\n", command->answers);
	osp_text_add(text, "  2  it could not be done; the reason is on standard error\n");
}

void osp_help_all(struct osp_text *text)
{
	int id;

	osp_text_add(text, "Usage: onespine COMMAND [OPTION]... [ARGUMENT]...\n\n"
			   "Places multi-node jobs (gangs) of Slurm on one network spine.\n\n"
			   "Commands\n");
	for (id = 0; id < OSP_COMMAND_COUNT; id++)
		osp_text_printf(text, "  %-16s  %s\n", osp_command(id)->name,
				osp_command(id)->summary);
	osp_text_add(text, "\n'onespine help COMMAND' explains a command and its options. Exit "
			   "status: 0 yes or\ndone, 1 the answer is no, 2 it could not be done.\n");
}
