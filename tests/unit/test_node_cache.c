/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_node_cache.c - what is kept of a node, and when it no longer serves */
#include "onespine_config.h"

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

#include "lib/bind/bind_machine_text.h"
#include "lib/cache/node_cache.h"
#include "lib/cache/rules_image.h"
#include "lib/env/rules_private.h"

static const char topology[] = "<system><cpu numaid=\"0\" affinity=\"0f\">"
			       "<pci busid=\"0000:80:00.0\" class=\"0x030200\"/></cpu>"
			       "<cpu numaid=\"1\" affinity=\"f0\">"
			       "<pci busid=\"0000:10:00.0\" class=\"0x030200\"/>"
			       "<nic><net name=\"rdmap16s27\" dev=\"0\"/></nic></cpu></system>";

static char folder[64];

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	for (size_t i = 1; name[i]; i++) {
		if (name[i] != '/')
			continue;
		snprintf(path, sizeof(path), "%s/%.*s", folder, (int)i, name);
		mkdir(path, 0755);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static char *path_of(const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static void link_to(char *target, char *path)
{
	assert_int_equal(symlink(target, path), 0);
	free(target);
	free(path);
}

static struct osp_node_source source;

/* A node of the type t8: two GPUs on its bus of eight, NVIDIA's driver 550. */
static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/onespine-node-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	write_file("node/sys/devices/virtual/dmi/id/product_name", "t8\n");
	write_file("node/sys/bus/pci/devices/0000:80:00.0/vendor", "0x10de\n");
	write_file("node/sys/bus/pci/devices/0000:80:00.0/class", "0x030200\n");
	write_file("node/sys/module/nvidia/version", "550.54.15\n");
	write_file("node/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	write_file("node/usr/lib64/libnccl.so.2.21.5", "");
	write_file("node/usr/local/bin/nvcc", "");
	link_to(path_of("elsewhere"), path_of("node/usr/local/cuda"));
	write_file("data/instances/t.yaml",
		   "source: x\ninstances:\n  t8: {vendor: nvidia, accelerators: 8}\n");
	write_file("m.xml", topology);
	source = (struct osp_node_source){path_of("node"), path_of("m.xml"), path_of("data"),
					  path_of("site"), path_of("kept")};
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	free((char *)source.root);
	free((char *)source.topology);
	free((char *)source.data);
	free((char *)source.site);
	free((char *)source.folder);
	return system(command);
}

static struct osp_node_known *know(bool was_kept)
{
	struct osp_error error = {.text = ""};
	struct osp_node_known *known = osp_node_know(&source, &error);

	if (!known)
		fail_msg("%s: %s", error.file, error.text);
	assert_int_equal(known->was_kept, was_kept);
	return known;
}

static char *lines_of(const struct osp_machine *machine)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_machine_write(machine, &text);
	return osp_text_take(&text);
}

static void test_kept_as_found(void **state)
{
	struct osp_node_known *found = know(false), *kept = know(true);
	char *first = lines_of(found->machine), *second = lines_of(kept->machine);

	(void)state;
	assert_string_equal(first, second);
	assert_memory_equal(&found->hardware, &kept->hardware, sizeof(found->hardware));
	assert_memory_equal(&found->software, &kept->software, sizeof(found->software));
	assert_string_equal(kept->product, "t8");
	assert_int_equal(kept->gpus, 1);
	assert_int_equal(kept->type_gpus, 8);
	assert_string_equal(kept->hardware.facts[OSP_FACT_DRIVER].text, "550.54.15");
	assert_string_equal(kept->software.facts[OSP_FACT_NCCL].text, "2.21.5");
	assert_false(kept->software.facts[OSP_FACT_EFA].known);
	assert_int_equal(kept->machine->gpu_count, 2);
	free(first);
	free(second);
	osp_node_forget(found);
	osp_node_forget(kept);
}

/* Each of these may change what is known. */
static void test_stale(void **state)
{
	static const struct {
		const char *file;
		const char *text;
	} cases[] = {
		{"node/sys/module/nvidia/version", "570.86.15\n"},
		{"node/sys/bus/pci/devices/0000:90:00.0/vendor", "0x10de\n"},
		{"node/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n"},
		{"node/sys/class/infiniband/rdmap0/ports/1/state", "4: ACTIVE\n"},
		{"node/sys/class/net/eth1/mtu", "9001\n"},
		{"node/proc/net/route", "Iface Destination\neth0 00000000\n"},
		{"node/usr/lib64/libnccl.so.2.22.3", ""},
		{"node/opt/amazon/efa_installed_packages", "EFA installer version: 1.43.1\n"},
		{"node/opt/aws-ofi-nccl/lib/libnccl-net.so", ""},
		{"elsewhere/lib64/libcudart.so", ""}, /* where a link led nowhere */
		{"node/etc/systemd/logind.conf", "RemoveIPC=no\n"},
		{"data/rules/a.yaml", "rules: []\n"},
		{"site/rules.d/s.yaml", "rules: []\n"},
		{"site/rules.d/s.yaml", "rules:  []\n"}, /* in place */
		{"data/instances/t2.yaml", "source: x\ninstances:\n  t9: {accelerators: 8}\n"},
		{"site/instances.d/s.yaml", "source: x\ninstances:\n  t7: {accelerators: 8}\n"},
		{"m.xml", "<system><cpu numaid=\"0\" affinity=\"0f\"/></system>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		osp_node_forget(osp_node_know(&source, NULL));
		assert_true(osp_node_is_kept(&source));
		write_file(cases[i].file, cases[i].text);
		if (osp_node_is_kept(&source))
			fail_msg("%s has changed, and the file still serves", cases[i].file);
		osp_node_forget(know(false));
	}
}

/* What another user could have written is not read, and nothing is written where one could. */
static void test_not_trusted(void **state)
{
	char *file = path_of("kept/node"), *away = path_of("away");

	(void)state;
	osp_node_forget(osp_node_know(&source, NULL));
	assert_int_equal(chmod(file, 0666), 0);
	assert_false(osp_node_is_kept(&source));
	osp_node_forget(know(false)); /* replaced by one of ours */
	assert_true(osp_node_is_kept(&source));
	assert_int_equal(rename(file, away), 0);
	assert_int_equal(symlink(away, file), 0);
	assert_false(osp_node_is_kept(&source));
	osp_node_forget(know(false));
	assert_true(osp_node_is_kept(&source));
	assert_int_equal(chmod(source.folder, 0777), 0);
	osp_node_forget(know(false));
	osp_node_forget(know(false));
	assert_int_equal(chmod(source.folder, 0755), 0);
	osp_node_forget(know(true));
	free(file);
	free(away);
}

/* A file that was cut, wherever, is none. */
static void test_cut(void **state)
{
	char *file = path_of("kept/node");
	struct stat status;

	(void)state;
	osp_node_forget(osp_node_know(&source, NULL));
	assert_int_equal(stat(file, &status), 0);
	for (off_t size = status.st_size - 3; size > 0; size -= 7) {
		osp_node_forget(osp_node_know(&source, NULL));
		assert_int_equal(truncate(file, size), 0);
		osp_node_forget(know(false));
	}
	free(file);
}

static void test_wrong_catalogue(void **state)
{
	struct osp_error error = {.text = ""};

	(void)state;
	write_file("data/instances/wrong.yaml", "source: x\ninstances:\n  t9: {acelerators: 8}\n");
	assert_null(osp_node_know(&source, &error));
	assert_int_equal(error.line, 3);
	assert_int_equal(error.column, 8);
	assert_non_null(strstr(error.text, "accelerators"));
}

static struct osp_rule_set *our_rules(void)
{
	const char *top = getenv("srcdir") ? getenv("srcdir") : ".";
	struct osp_rule_set *rules = osp_rules_new(NULL);
	struct osp_error error = {.text = ""};
	char path[512];

	snprintf(path, sizeof(path), "%s/etc/rules", top);
	if (osp_rules_add_folder(rules, path, 0, &error) || osp_rules_finish(rules, &error))
		fail_msg("%s:%d: %s", error.file, error.line, error.text);
	return rules;
}

static void same_words(const struct osp_word_list *a, const struct osp_word_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		assert_string_equal(a->words[i], b->words[i]);
}

static void same_string(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void same_rule(const struct osp_rule *a, const struct osp_rule *b)
{
	same_string(a->id, b->id);
	same_string(a->file, b->file);
	same_string(a->value, b->value);
	same_string(a->reason, b->reason);
	same_string(a->cure, b->cure);
	same_string(a->source, b->source);
	same_words(&a->variables, &b->variables);
	same_words(&a->is, &b->is);
	same_words(&a->is_not, &b->is_not);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->column, b->column);
	assert_int_equal(a->rank, b->rank);
	assert_int_equal(a->action, b->action);
	assert_int_equal(a->severity, b->severity);
	assert_int_equal(a->condition_count, b->condition_count);
	for (size_t i = 0; i < a->condition_count; i++) {
		same_string(a->conditions[i].text, b->conditions[i].text);
		same_words(&a->conditions[i].words, &b->conditions[i].words);
		assert_int_equal(a->conditions[i].fact, b->conditions[i].fact);
		assert_int_equal(a->conditions[i].flag, b->conditions[i].flag);
		assert_memory_equal(&a->conditions[i].range, &b->conditions[i].range,
				    sizeof(a->conditions[i].range));
	}
}

static void test_rules_image(void **state)
{
	struct osp_rule_set *read = our_rules(), *kept;
	size_t bytes = 0;
	char *image = osp_rules_image(read, 7, &bytes), *copy;

	(void)state;
	for (size_t cut = 1; cut < bytes; cut += 97) {
		copy = calloc(1, bytes - cut + 1);
		memcpy(copy, image, bytes - cut);
		osp_rules_free(osp_rules_of_image(copy, bytes - cut, 7));
	}
	copy = malloc(bytes + 1);
	memcpy(copy, image, bytes);
	assert_null(osp_rules_of_image(copy, bytes, 8));
	kept = osp_rules_of_image(image, bytes, 7);
	assert_non_null(kept);
	assert_int_equal(kept->count, read->count);
	for (size_t i = 0; i < read->count; i++)
		same_rule(&read->rules[i], &kept->rules[i]);
	osp_rules_free(kept);
	osp_rules_free(read);
}

/* Kept is what can hold on the node, with or without what only tells. A changed file is read anew,
 * and a wrong one is told of each time. */
static void test_rules_known(void **state)
{
	struct osp_error error = {.text = ""};
	struct osp_node_known *known = osp_node_know(&source, &error);
	struct osp_rule_set *rules;
	char *kept = path_of("kept/rules");

	(void)state;
	write_file("data/rules/a.yaml",
		   "rules:\n  - {id: A, action: set, variable: V, value: \"1\", severity: note, "
		   "reason: r, source: s}\n"
		   "  - {id: N, when: {vendor: amd}, action: set, variable: W, value: \"1\", "
		   "severity: note, reason: r, source: s}\n"
		   "  - {id: T, action: warn, variable: X, severity: note, reason: r, cure: c, "
		   "source: s}\n");
	for (int i = 0; i < 2; i++) {
		rules = osp_rules_know(&source, known, true, &error);
		assert_non_null(rules);
		assert_int_equal(access(kept, R_OK), 0);
		assert_int_equal(rules->count, 2);
		assert_string_equal(rules->rules[0].value, "1");
		osp_rules_free(rules);
	}
	rules = osp_rules_know(&source, known, false, &error);
	assert_int_equal(rules->count, 1);
	osp_rules_free(rules);
	known->stamp++; /* another node, for which the other may hold */
	memset(&known->hardware, 0, sizeof(known->hardware));
	rules = osp_rules_know(&source, known, true, &error);
	assert_int_equal(rules->count, 3);
	osp_rules_free(rules);
	write_file("site/rules.d/b.yaml", "rules:\n  - {id: B, acton: set}\n");
	osp_node_forget(known);
	known = osp_node_know(&source, &error);
	for (int i = 0; i < 2; i++) {
		error.text[0] = '\0';
		assert_null(osp_rules_know(&source, known, true, &error));
		assert_int_equal(error.line, 2);
	}
	osp_node_forget(known);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept_as_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_trusted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_catalogue, set_up, tear_down),
		cmocka_unit_test(test_rules_image),
		cmocka_unit_test_setup_teardown(test_rules_known, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
