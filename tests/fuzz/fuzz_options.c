/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_options.c - any words for `onespine`, one a line
 *
 * Parser: tools/command/options_parse.c tools/command/options.c tools/command/commands.c
 */
#include "tests/fuzz/fuzz.h"
#include "tools/command/options.h"

#define WORDS_MAX 16

/* Returns whether the words are those of the command line, the last ones of it. */
static void check_arguments(const struct osp_call *call, char *const *words, int count)
{
	fuzz_check(call->argument_count >= 0 && call->argument_count < count);
	for (int i = 0; i < call->argument_count; i++) {
		bool found = false;

		for (int w = 1; w < count && !found; w++)
			found = call->arguments[i] == words[w];
		fuzz_check(found);
	}
}

FUZZER(options)
{
	char program[] = "onespine", *text = malloc(size + 1), *rest = text;
	char *words[WORDS_MAX + 2] = {program}, *copy[WORDS_MAX + 2];
	struct osp_error error = {.text = ""};
	struct osp_call call;
	int count = 1;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	while (rest && count <= WORDS_MAX)
		words[count++] = strsep(&rest, "\n");
	words[count] = NULL;
	memcpy(copy, words, sizeof(copy)); /* getopt moves them */
	if (osp_options_parse(count, words, &call, &error)) {
		fuzz_check(error.text[0] && memchr(error.text, '\0', sizeof(error.text)));
	} else {
		fuzz_check(call.command < OSP_COMMAND_COUNT || call.command == OSP_HELP);
		if (call.command < OSP_COMMAND_COUNT)
			check_arguments(&call, copy, count);
	}
	free(text);
	return 0;
}
