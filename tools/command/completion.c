/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion.c - completion scripts for bash and zsh, written from the option table */
#include "tools/command/options.h"

#include <string.h>

#define PARTITIONS "sinfo -h -o %R 2>/dev/null"
#define JOBS	   "squeue -h -a -o %i 2>/dev/null"
#define NODES	   "sinfo -h -N -o %N 2>/dev/null | sort -u"

/* --- bash ------------------------------------------------------------------------------------- */

static void bash_values(enum osp_complete complete, const char *words, struct osp_text *text)
{
	switch (complete) {
	case OSP_COMPLETE_FILE:
		osp_text_add(text, "compopt -o filenames 2>/dev/null; "
				   "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")");
		break;
	case OSP_COMPLETE_WORDS:
		osp_text_printf(text, "COMPREPLY=($(compgen -W '%s' -- \"$word\"))", words);
		break;
	case OSP_COMPLETE_PARTITION:
		osp_text_add(text, "COMPREPLY=($(compgen -W \"$(" PARTITIONS ")\" -- \"$word\"))");
		break;
	case OSP_COMPLETE_JOB:
		osp_text_add(text, "COMPREPLY=($(compgen -W \"$(" JOBS ")\" -- \"$word\"))");
		break;
	case OSP_COMPLETE_NODE:
		osp_text_add(text, "COMPREPLY=($(compgen -W \"$(" NODES ")\" -- \"$word\"))");
		break;
	case OSP_COMPLETE_NOTHING:
		osp_text_add(text, "COMPREPLY=()");
		break;
	}
}

/* Adds one "case" branch for a command: values of options first, then options, then arguments. */
static void bash_command(enum osp_command_id id, struct osp_text *text)
{
	const struct osp_command *command = osp_command(id);
	int option;

	osp_text_printf(text, "\t'%s')\n\t\tcase $option in\n", command->name);
	for (option = 0; option < OSP_OPTION_COUNT; option++) {
		const struct osp_option *row = osp_option(option);

		if (!osp_command_has(id, option) || !row->argument)
			continue;
		osp_text_printf(text, "\t\t--%s", row->name);
		if (row->letter)
			osp_text_printf(text, " | -%c", row->letter);
		osp_text_add(text, ")\n\t\t\t");
		bash_values(row->complete, row->words, text);
		osp_text_add(text, "\n\t\t\treturn\n\t\t\t;;\n");
	}
	osp_text_add(text, "\t\tesac\n\t\tif [[ $word == -* ]]; then\n\t\t\toptions='");
	for (option = 0; option < OSP_OPTION_COUNT; option++)
		if (osp_command_has(id, option))
			osp_text_printf(text, "%s--%s", option ? " " : "",
					osp_option(option)->name);
	osp_text_add(text, "'\n\t\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
			   "\t\telse\n\t\t\t");
	bash_values(command->complete, command->words, text);
	osp_text_add(text, "\n\t\tfi\n\t\t;;\n");
}

/* Adds the words that can follow `group` ("" for the first word of all). */
static void add_next_words(const char *group, struct osp_text *text)
{
	size_t length = strlen(group);
	const char *last = "";
	size_t last_length = 0;
	int id;

	for (id = 0; id < OSP_COMMAND_COUNT; id++) {
		const char *word = osp_command(id)->name;
		size_t word_length;

		if (length && (strncmp(word, group, length) != 0 || word[length] != ' '))
			continue;
		word += length ? length + 1 : 0;
		word_length = strcspn(word, " ");
		if (word_length != last_length || strncmp(word, last, word_length) != 0)
			osp_text_printf(text, "%s%.*s", last_length ? " " : "", (int)word_length,
					word);
		last = word;
		last_length = word_length;
	}
}

void osp_completion_bash(struct osp_text *text)
{
	int id;

	osp_text_add(text,
		     "# SPDX-License-Identifier: GPL-2.0-or-later\n"
		     "# bash completion for onespine; made by 'onespine completion bash'\n\n"
		     "_onespine()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tlocal name=${COMP_WORDS[1]} first=1 options\n\n"
		     "\t# readline breaks --option=value at the sign\n"
		     "\tif [[ $word == '=' ]]; then\n\t\tword=\n"
		     "\telif [[ $option == '=' ]]; then\n"
		     "\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
		     "\tCOMPREPLY=()\n"
		     "\tcase $name in\n\ttopology | config | gate)\n"
		     "\t\tname+=\" ${COMP_WORDS[2]-}\"\n\t\tfirst=2\n\t\t;;\n"
		     "\tbind)\n\t\tif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[2]} == run ]]; then\n"
		     "\t\t\tname='bind run'\n\t\tfi\n\t\t;;\n\tesac\n"
		     "\tif ((COMP_CWORD <= first)); then\n"
		     "\t\tcase \"$((COMP_CWORD)) ${COMP_WORDS[1]}\" in\n"
		     "\t\t'2 topology')\n\t\t\toptions='");
	add_next_words("topology", text);
	osp_text_add(text, "'\n\t\t\t;;\n\t\t'2 config')\n\t\t\toptions='");
	add_next_words("config", text);
	osp_text_add(text, "'\n\t\t\t;;\n\t\t'2 gate')\n\t\t\toptions='");
	add_next_words("gate", text);
	osp_text_add(text, "'\n\t\t\t;;\n\t\t*)\n\t\t\toptions='");
	add_next_words("", text);
	osp_text_add(text, " --help --version'\n\t\t\t;;\n\t\tesac\n"
			   "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
			   "\t\treturn\n\tfi\n\tcase $name in\n");
	for (id = 0; id < OSP_COMMAND_COUNT; id++)
		bash_command(id, text);
	osp_text_add(text, "\tesac\n}\n\ncomplete -F _onespine onespine\n");
}

/* --- zsh -------------------------------------------------------------------------------------- */

static void zsh_values(enum osp_complete complete, const char *words, struct osp_text *text)
{
	switch (complete) {
	case OSP_COMPLETE_FILE:
		osp_text_add(text, "_files");
		break;
	case OSP_COMPLETE_WORDS:
		osp_text_printf(text, "(%s)", words);
		break;
	case OSP_COMPLETE_PARTITION:
		osp_text_add(text, "{compadd -- ${(f)\"$(" PARTITIONS ")\"}}");
		break;
	case OSP_COMPLETE_JOB:
		osp_text_add(text, "{compadd -- ${(f)\"$(" JOBS ")\"}}");
		break;
	case OSP_COMPLETE_NODE:
		osp_text_add(text, "{compadd -- ${(f)\"$(" NODES ")\"}}");
		break;
	case OSP_COMPLETE_NOTHING:
		osp_text_add(text, " ");
		break;
	}
}

/* Adds help inside a zsh specification, with brackets, quotes and colons escaped. */
static void zsh_words(const char *words, struct osp_text *text)
{
	for (; *words; words++) {
		if (strchr("[]:'\\", *words))
			osp_text_printf(text, "%s", *words == '\'' ? "'\\''" : "\\");
		if (*words != '\'')
			osp_text_add_bytes(text, words, 1);
	}
}

static void zsh_option(const struct osp_option *option, struct osp_text *text)
{
	osp_text_add(text, " \\\n\t\t\t");
	if (option->letter)
		osp_text_printf(text, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
				option->letter, option->argument ? "+" : "", option->name,
				option->argument ? "=" : "");
	else
		osp_text_printf(text, "'--%s%s[", option->name,
				!option->argument	    ? ""
				: option->argument_optional ? "=-"
							    : "=");
	zsh_words(option->help, text);
	osp_text_add(text, "]");
	if (option->argument) {
		osp_text_printf(text, "%s%s:", option->argument_optional ? "::" : ":",
				option->argument);
		zsh_values(option->complete, option->words, text);
	}
	osp_text_add(text, "'");
}

static void zsh_command(enum osp_command_id id, struct osp_text *text)
{
	const struct osp_command *command = osp_command(id);
	int option;

	osp_text_printf(text, "\t'%s')\n\t\t_arguments", command->name);
	for (option = 0; option < OSP_OPTION_COUNT; option++)
		if (osp_command_has(id, option))
			zsh_option(osp_option(option), text);
	if (*command->arguments) {
		osp_text_printf(text, " \\\n\t\t\t'%s:",
				command->arguments_most > 2 ? "*"
				: command->arguments_least  ? "1"
							    : "1:");
		osp_text_printf(text, "%s:", "argument");
		zsh_values(command->complete, command->words, text);
		osp_text_add(text, "'");
	}
	osp_text_add(text, "\n\t\t;;\n");
}

void osp_completion_zsh(struct osp_text *text)
{
	int id;

	osp_text_add(text, "#compdef onespine\n"
			   "# SPDX-License-Identifier: GPL-2.0-or-later\n"
			   "# zsh completion for onespine; made by 'onespine completion zsh'\n\n"
			   "local name=${words[2]} first=2\n\n"
			   "case $name in\ntopology | config | gate)\n"
			   "\tname+=\" ${words[3]}\"\n\tfirst=3\n\t;;\n"
			   "bind)\n\tif ((CURRENT > 3)) && [[ ${words[3]} == run ]]; then\n"
			   "\t\tname='bind run'\n\t\tfirst=3\n\tfi\n\t;;\nesac\n"
			   "if ((CURRENT <= first)); then\n"
			   "\tcase \"$CURRENT ${words[2]}\" in\n\t'3 topology') compadd -- ");
	add_next_words("topology", text);
	osp_text_add(text, " ;;\n\t'3 config') compadd -- ");
	add_next_words("config", text);
	osp_text_add(text, " ;;\n\t'3 gate') compadd -- ");
	add_next_words("gate", text);
	osp_text_add(text, " ;;\n\t*) compadd -- ");
	add_next_words("", text);
	osp_text_add(text, " --help --version ;;\n\tesac\n\treturn\nfi\n"
			   "shift $((first - 1)) words\n((CURRENT -= first - 1))\n"
			   "case $name in\n");
	for (id = 0; id < OSP_COMMAND_COUNT; id++)
		zsh_command(id, text);
	osp_text_add(text, "esac\n");
}
