/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pass_store.c - passes are kept by root, and what others could write is none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/base/node_state.h"
#include "check/base/pass_store.h"

static char root[] = "/tmp/onespine-pass-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0755);
		*at = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	put("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	put("proc/uptime", "5000.10 1.0\n");
	put("dev/kmsg", "6,1,1,-;hello\n4,2,1,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=7\n");
	put("sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "3\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void look(struct osp_node_state *state)
{
	struct osp_error error = {.text = ""};
	struct osp_check_context context;
	struct osp_state_look child;

	osp_check_context_set(&context, root, NULL);
	assert_int_equal(osp_node_state_begin(&child, &context, &error), 0);
	assert_int_equal(osp_node_state_collect(&child, osp_now_ms() + 20000, "r1", state, &error),
			 0);
}

static void the_state_of_a_node(void **state)
{
	struct osp_node_state now;

	(void)state;
	look(&now);
	assert_string_equal(now.boot_id, "11111111-2222-3333-4444-555555555555");
	assert_string_equal(now.rules, "r1");
	assert_int_equal(now.uptime_s, 5000);
	assert_true(now.log_known && now.whole);
	assert_int_equal(now.log_first, 1);
	assert_int_equal(now.log_next, 3);
	assert_int_equal(now.xids, 3);
	assert_int_equal(now.gpu_count, 0);
	assert_int_equal(now.counter_count, 1);
	assert_int_equal(osp_counter_find(&now, "mlx5_0:1", "link_downed")->value, 3);
	osp_node_state_clear(&now);
}

static void kept_and_found(void **state)
{
	const uint64_t live_s = 60;
	struct osp_error error = {.text = ""};
	struct osp_node_state now;
	struct osp_pass pass, since;
	char words[160];

	(void)state;
	look(&now);
	assert_int_equal(
		osp_pass_holds(root, &now, OSP_DEPTH_PASSIVE, live_s, words, sizeof(words)),
		OSP_STALE_NONE);
	assert_int_equal(osp_pass_load_since(root, &since), 0);
	osp_pass_make(&pass, NULL, OSP_DEPTH_QUICK, &now);
	assert_int_equal(osp_pass_save(root, &pass, true, &error), 0);
	assert_int_equal(osp_pass_save(root, &pass, true, &error), 0);
	osp_pass_clear(&pass);
	look(&now);
	/* deeper than asked for holds too */
	assert_int_equal(
		osp_pass_holds(root, &now, OSP_DEPTH_PASSIVE, live_s, words, sizeof(words)),
		OSP_FRESH);
	assert_int_equal(osp_pass_holds(root, &now, OSP_DEPTH_FULL, live_s, words, sizeof(words)),
			 OSP_STALE_NONE);
	put("dev/kmsg", "6,1,1,-;hello\n6,2,1,-;x\n4,3,1,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n");
	osp_node_state_clear(&now);
	look(&now);
	assert_int_equal(osp_pass_holds(root, &now, OSP_DEPTH_QUICK, live_s, words, sizeof(words)),
			 OSP_STALE_XID);
	assert_string_equal(words, "an XID since");
	osp_node_state_clear(&now);
}

static void a_failure_forgets_passes(void **state)
{
	struct osp_pass pass;

	(void)state;
	osp_pass_drop(root);
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, NULL), 0);
	assert_int_equal(osp_pass_load_since(root, &pass), 1);
	assert_int_equal(osp_counter_find(&pass.state, "mlx5_0:1", "link_downed")->value, 3);
	osp_pass_clear(&pass);
	put("proc/sys/kernel/random/boot_id", "another\n");
	assert_int_equal(osp_pass_load_since(root, &pass), 0);
}

/* Each way in which a user could have made it. */
static void others_make_none(void **state)
{
	struct osp_error error = {.text = ""};
	struct osp_node_state now;
	struct osp_pass pass;
	char folder[128], file[160], moved[160];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/run/onespine", root);
	snprintf(file, sizeof(file), "%s/pass-quick", folder);
	snprintf(moved, sizeof(moved), "%s/moved", folder);
	look(&now);
	osp_pass_make(&pass, NULL, OSP_DEPTH_QUICK, &now);
	assert_int_equal(osp_pass_save(root, &pass, true, &error), 0);
	osp_pass_clear(&pass);
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, &error), 1);
	osp_pass_clear(&pass);
	chmod(file, 0666);
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, &error), -1);
	assert_string_equal(error.text, "not a file of root's alone");
	chmod(file, 0644);
	if (geteuid() == 0) {
		assert_int_equal(chown(file, 1234, 0), 0);
		assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, NULL), -1);
		assert_int_equal(chown(file, 0, 0), 0);
	}
	chmod(folder, 0777);
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, NULL), -1);
	chmod(folder, 0755);
	assert_int_equal(rename(file, moved), 0);
	assert_int_equal(symlink("moved", file), 0);
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, NULL), -1);
	unlink(file);
	put("run/onespine/pass-quick", "{\"depth\": \"quick\"");
	assert_int_equal(osp_pass_load(root, OSP_DEPTH_QUICK, &pass, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_of_a_node),
		cmocka_unit_test(kept_and_found),
		cmocka_unit_test(a_failure_forgets_passes),
		cmocka_unit_test(others_make_none),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
