/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slurm_conf.c - slurm.conf, its own include too: every word that is read can be found again;
 * and plugstack.conf
 *
 * Parser: lib/conf/slurm_conf.c lib/conf/plugstack.c lib/conf/conf_line.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/conf/plugstack.h"
#include "lib/conf/slurm_conf.h"

struct input {
	const uint8_t *data;
	size_t size;
	int reads;
};

/* A few files hold the same bytes, then there are no more. */
static char *read_input(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	struct input *input = context;
	char *text;

	(void)path;
	if (input->reads++ == 3) {
		osp_error_set(error, "no more files");
		return NULL;
	}
	text = calloc(1, input->size + 1);
	memcpy(text, input->data, input->size);
	*bytes = input->size;
	return text;
}

static void check_words(const struct osp_slurm_conf *conf)
{
	size_t count, files;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);

	osp_slurm_conf_files(conf, &files);
	fuzz_check(files >= 1);
	for (size_t i = 0; i < count; i++) {
		const struct osp_slurm_word *found = osp_slurm_conf_find(conf, words[i].key);

		fuzz_check(words[i].line >= 1 && *words[i].key && *words[i].value);
		fuzz_check(!words[i].starts_line || (found && found >= &words[i]));
	}
}

static void check_plugstack(const char *text, size_t size)
{
	struct osp_plugstack_line line;
	struct osp_plugstack stack;
	int lines = 0;

	osp_plugstack_start(&stack, text, size);
	while (osp_plugstack_next(&stack, &line)) {
		fuzz_check(line.line == ++lines);
		fuzz_check((line.kind == OSP_PLUGSTACK_NOTHING ||
			    line.kind == OSP_PLUGSTACK_WRONG) == !*line.path);
	}
}

FUZZER(slurm_conf)
{
	struct input input = {.data = data, .size = size};
	struct osp_error error = {.text = ""};
	struct osp_slurm_conf *conf =
		osp_slurm_conf_read("/e/slurm.conf", read_input, &input, &error);
	char value[16];

	fuzz_check(!conf == (error.text[0] != '\0'));
	if (conf) {
		check_words(conf);
		(void)osp_slurm_list_has(osp_slurm_conf_value(conf, "A", NULL), "a", value,
					 sizeof(value));
		(void)osp_slurm_conf_number(conf, "A", 1);
	}
	osp_slurm_conf_free(conf);
	check_plugstack((const char *)data, size);
	return 0;
}
