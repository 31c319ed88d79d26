/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_extra.c - what stands in a node's Extra: all but our part stays, and our part is read back
 *
 * Parser: host/slurm/extra_text.c
 */
#include "host/slurm/extra_text.h"
#include "tests/fuzz/fuzz.h"

#define BOOT_S 1795496108

static void check_merged(const char *extra, const char *merged)
{
	json_t *before = *extra ? json_loads(extra, 0, NULL) : json_object();
	json_t *after = json_loads(merged, 0, NULL);

	fuzz_check(before && json_is_object(after));
	json_object_del(before, OSP_EXTRA_INSTANCE_KEY);
	json_object_del(after, OSP_EXTRA_INSTANCE_KEY);
	fuzz_check(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

FUZZER(extra)
{
	json_t *mine = json_pack("{s:s,s:I}", "id", "i-0abc", "boot", (json_int_t)BOOT_S);
	struct osp_error error = {.text = ""};
	char *text = malloc(size + 1), *merged = NULL, id[16];
	int state;

	fuzz_check(text && mine);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (osp_extra_instance(text, BOOT_S, id, sizeof(id)))
		fuzz_check(*id && memchr(id, '\0', sizeof(id)));
	state = osp_extra_merge(text, OSP_EXTRA_INSTANCE_KEY, mine, &merged, &error);
	if (state < 0) {
		fuzz_check(!merged && *error.text);
	} else if (state > 0) {
		check_merged(text, merged);
		fuzz_check(osp_extra_instance(merged, BOOT_S, id, sizeof(id)));
		fuzz_check(!strcmp(id, "i-0abc"));
		fuzz_check(!osp_extra_instance(merged, BOOT_S + 3600, id, sizeof(id)));
	}
	free(merged);
	json_decref(mine);
	free(text);
	return 0;
}
