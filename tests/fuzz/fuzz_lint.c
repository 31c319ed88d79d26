/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_lint.c - any text as a job script: settings with places in it, in its order
 *
 * Parser: lib/env/script.c lib/env/script_commands.c lib/env/script_settings.c
 * Parser: lib/env/script_document.c lib/env/script_border.c lib/env/script_course.c
 * Parser: lib/env/script_flow.c lib/env/script_value.c lib/env/script_options.c
 * Parser: lib/env/shell_text.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/env/env_lint.h"

FUZZER(lint)
{
	struct osp_error error = {.text = ""};
	struct osp_script *script = osp_script_read("f", (const char *)data, size, &error);
	int lines = 1;

	if (!script) {
		fuzz_check(error.text[0]);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *setting = osp_script_at(script, i);

		fuzz_check(setting->name && setting->value);
		fuzz_check(setting->line >= 1 && setting->line <= lines && setting->column >= 1);
	}
	osp_script_free(script);
	return 0;
}
