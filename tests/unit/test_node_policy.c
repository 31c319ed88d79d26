/* SPDX-License-Identifier: GPL-2.0-or-later */
/* onespine.yaml on a node: which file, and what slurmctld sends hidden in comments of
 * slurm.conf. */
#include <errno.h>
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

#include "lib/policy/config.h"
#include "lib/policy/node_policy.h"

static char folder[64], slurm_conf[128], site[128];

static const char *in(const char *where, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", where, name);
	return path;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_folders(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/onespine-policy.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(slurm_conf, sizeof(slurm_conf), "%s/slurm.conf", folder);
	snprintf(site, sizeof(site), "%s/site", folder);
	return mkdir(site, 0755);
}

static int remove_folders(void **state)
{
	(void)state;
	unlink(in(folder, OSP_CONFIG_NAME));
	unlink(in(folder, OSP_PIECE_NAME));
	unlink(in(site, OSP_CONFIG_NAME));
	unlink(slurm_conf);
	rmdir(site);
	return rmdir(folder);
}

/* --- hidden and revealed ---------------------------------------------------------------------- */

static void what_is_hidden_comes_back(void **state)
{
	static const struct {
		const char *yaml, *hidden, *revealed;
	} cases[] = {
		{"", "", NULL},
		{"\n", "#|\n", "\n"},
		{"a: 1", "#| a: 1\n", "a: 1\n"},
		{"---\ndefaults:\n  level: leaf # \\\n\n# why\n",
		 "#| ---\n#| defaults:\n#|   level: leaf # \\\n#|\n#| # why\n",
		 "---\ndefaults:\n  level: leaf # \\\n\n# why\n"},
		{"#| x\n", "#| #| x\n", "#| x\n"},
		{" a\r\n", "#|  a\r\n", " a\r\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_text hidden = OSP_TEXT_INIT;
		size_t bytes = 0;
		char *text, *revealed;

		osp_node_policy_hide(cases[i].yaml, strlen(cases[i].yaml), &hidden);
		text = osp_text_take(&hidden);
		assert_string_equal(text, cases[i].hidden);
		errno = 0;
		revealed = osp_node_policy_reveal(text, strlen(text), &bytes);
		if (cases[i].revealed) {
			assert_string_equal(revealed, cases[i].revealed);
			assert_int_equal(bytes, strlen(cases[i].revealed));
		} else {
			assert_null(revealed);
			assert_int_equal(errno, ENOENT);
		}
		free(revealed);
		free(text);
	}
}

static void each_line_keeps_its_number(void **state)
{
	static const char piece[] = "# ours\nPluginDir=/x #| no\n#| defaults:\n# more\n #| no\n"
				    "#|   level: leaf\n#";
	size_t bytes = 0;
	char *yaml = osp_node_policy_reveal(piece, strlen(piece), &bytes);

	(void)state;
	assert_string_equal(yaml, "\n\ndefaults:\n\n\n  level: leaf\n\n");
	free(yaml);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The file's name and its level, or why not. */
static void expect(const char *conf, const char *where, const char *wanted)
{
	struct osp_node_policy policy = {.file = NULL};
	struct osp_error error = {.text = ""};
	int result = osp_node_policy_read(conf, where, &policy, &error);
	char said[800] = "none";

	if (result < 0) {
		osp_error_format(&error, said, sizeof(said));
	} else if (result) {
		struct osp_config *config =
			osp_config_read(policy.file, policy.text, policy.text_bytes, &error);

		assert_non_null(config);
		snprintf(said, sizeof(said), "%s %s", policy.file + strlen(folder) + 1,
			 osp_config_policy(config, NULL)->level);
		osp_config_free(config);
	} else {
		assert_null(policy.file);
	}
	osp_node_policy_free(&policy);
	if (result < 0)
		assert_non_null(strstr(said, wanted));
	else
		assert_string_equal(said, wanted);
}

static void the_first_there_is_counts(void **state)
{
	(void)state;
	expect(NULL, NULL, "none");
	expect(slurm_conf, site, "none");
	write_file(in(site, OSP_CONFIG_NAME), "defaults: {level: site}\n");
	expect(slurm_conf, site, "site/onespine.yaml site");
	expect(slurm_conf, NULL, "none");
	expect("slurm.conf", site, "site/onespine.yaml site");
	write_file(in(folder, OSP_PIECE_NAME), "PluginDir=/x\n");
	expect(slurm_conf, site, "site/onespine.yaml site");
	write_file(in(folder, OSP_PIECE_NAME), "PluginDir=/x\n#| defaults: {level: sent}\n");
	expect(slurm_conf, site, "slurm-onespine.conf sent");
	write_file(in(folder, OSP_CONFIG_NAME), "defaults: {level: beside}\n");
	expect(slurm_conf, site, "onespine.yaml beside");
	unlink(in(folder, OSP_CONFIG_NAME));
	assert_int_equal(mkdir(in(folder, OSP_CONFIG_NAME), 0755), 0);
	expect(slurm_conf, site, "/onespine.yaml: cannot be read: ");
	rmdir(in(folder, OSP_CONFIG_NAME));
}

/* As root: the file has that owner, group and mode; "" if it may be obeyed, else why not. */
static void expect_trust(uid_t owner, gid_t group, mode_t mode, const char *wanted)
{
	const char *file = in(site, OSP_CONFIG_NAME);
	struct osp_error error = {.text = ""};

	assert_int_equal(chown(file, owner, group), 0);
	assert_int_equal(chmod(file, mode), 0);
	assert_int_equal(osp_policy_trusted(file, slurm_conf, &error), *wanted ? -1 : 0);
	assert_string_equal(error.text, wanted);
}

#define ANOTHERS "it belongs neither to root nor to SlurmUser (chown root)"
#define OTHERS	 "others than its owner may write it (chmod go-w)"

static void what_others_may_write_is_not_obeyed(void **state)
{
	struct osp_error error = {.text = ""};

	(void)state;
	write_file(slurm_conf, "SlurmUser=root\n");
	write_file(in(site, OSP_CONFIG_NAME), "");
	expect_trust(geteuid(), getegid(), 0644, "");
	expect_trust(geteuid(), getegid(), 0666, OTHERS);
	expect_trust(geteuid(), getegid(), 0646, OTHERS);
	assert_int_equal(osp_policy_trusted("/nowhere/onespine.yaml", slurm_conf, &error), -1);
	assert_string_equal(error.text, "cannot be looked at: No such file or directory");
	if (geteuid() != 0)
		return;
	expect_trust(0, 0, 0664, "");
	expect_trust(0, 65534, 0664, OTHERS);
	expect_trust(65534, 0, 0600, ANOTHERS);
	/* SlurmUser's: by number, by name, by who has slurm.conf */
	write_file(slurm_conf, "ClusterName=c\nSlurmUser=65534\n");
	expect_trust(65534, 0, 0644, "");
	expect_trust(65533, 0, 0644, ANOTHERS);
	write_file(slurm_conf, "ClusterName=c\nSlurmUser=nobody(65534)\n");
	expect_trust(65534, 0, 0644, "");
	expect_trust(65534, 0, 0646, OTHERS);
	write_file(slurm_conf, "SlurmUser=root\n");
	assert_int_equal(chown(slurm_conf, 65533, 0), 0);
	expect_trust(65533, 0, 0644, "");
	expect_trust(65534, 0, 0644, ANOTHERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_hidden_comes_back),
		cmocka_unit_test(each_line_keeps_its_number),
		cmocka_unit_test_setup_teardown(the_first_there_is_counts, make_folders,
						remove_folders),
		cmocka_unit_test_setup_teardown(what_others_may_write_is_not_obeyed, make_folders,
						remove_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
