/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_launcher.c - which launchers of a step order nodes by themselves */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/env/launcher.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS_MAX    8

static char folder[] = "/tmp/onespine-launcher.XXXXXX";

static const char *variable(const char *name)
{
	return getenv(name);
}

/* Words are separated by '|'. */
static enum osp_launcher found_in(const char *line)
{
	char copy[512], *words[WORDS_MAX], *rest = copy, *word;
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, "|"))) {
		assert_in_range(count, 0, WORDS_MAX - 1);
		words[count++] = word;
	}
	return osp_launcher_find(words, count, variable);
}

static void finds_launchers_in_words(void **state)
{
	static const struct {
		const char *words;
		enum osp_launcher launcher;
	} cases[] = {
		{"torchrun|--nnodes=4|--rdzv-backend=c10d|train.py", OSP_LAUNCHER_C10D},
		{"torchrun|--rdzv_backend|c10d|train.py", OSP_LAUNCHER_C10D},
		{"-N4|sh|-c|torchrun --rdzv_backend c10d --rdzv_endpoint h:1 t.py",
		 OSP_LAUNCHER_C10D},
		{"sh|-c|torchrun --rdzv-backend=\"c10d\" t.py", OSP_LAUNCHER_C10D},
		{"sh|-c|torchrun --rdzv-backend \\\n c10d t.py", OSP_LAUNCHER_C10D},
		{"torchrun|--rdzv-backend=static|--node-rank=1|t.py", OSP_LAUNCHER_BY_TASK},
		{"torchrun|--rdzv-endpoint=c10d:1|t.py", OSP_LAUNCHER_BY_TASK},
		{"torchrun|--rdzv-backend", OSP_LAUNCHER_BY_TASK},
		{"torchrun|--rdzv-backend=etcd|c10d", OSP_LAUNCHER_BY_TASK},
		{"ray|start|--head", OSP_LAUNCHER_RAY},
		{"/opt/ray/bin/ray|symmetric-run|--", OSP_LAUNCHER_RAY},
		{"sh|-c|cd x && ray start --address=$head", OSP_LAUNCHER_RAY},
		{"array|start", OSP_LAUNCHER_BY_TASK},
		{"x-ray|start", OSP_LAUNCHER_BY_TASK},
		{"ray|status", OSP_LAUNCHER_BY_TASK},
		{"ray", OSP_LAUNCHER_BY_TASK},
		{"arrays/ray.py|start", OSP_LAUNCHER_BY_TASK},
		{"sh|-c|torchrun --node-rank=$SLURM_NODEID t.py", OSP_LAUNCHER_NODEID},
		{"sh|-c|NODE_RANK=${SLURM_NODEID}; torchrun --node_rank $NODE_RANK t.py",
		 OSP_LAUNCHER_NODEID},
		{"sh|-c|# SLURM_NODEID", OSP_LAUNCHER_BY_TASK},
		/* a part of a name is no rank */
		{"sh|-c|CACHE=/tmp/cache_$SLURM_NODEID x", OSP_LAUNCHER_BY_TASK},
		{"sh|-c|x --log=/tmp/${SLURM_NODEID}.log", OSP_LAUNCHER_BY_TASK},
		{"sh|-c|CACHE=/tmp/c_$SLURM_NODEID; x --rank ${SLURM_NODEID}", OSP_LAUNCHER_NODEID},
		{"sh|-c|x --rank $((SLURM_NODEID + 1))", OSP_LAUNCHER_NODEID},
		{"SLURM_NODEID", OSP_LAUNCHER_NODEID},
		{"sh|-c|torchrun --node-rank=${ONESPINE_NODE_RANK:-$SLURM_NODEID} t.py",
		 OSP_LAUNCHER_BY_TASK},
		{"sh|-c|R=$ONESPINE_NODE_RANK\ntorchrun --node-rank=$SLURM_NODEID t.py",
		 OSP_LAUNCHER_NODEID},
		{"sh|-c|echo $SLURM_NODEID|--rdzv-backend=c10d", OSP_LAUNCHER_C10D},
		{"hostname", OSP_LAUNCHER_BY_TASK},
		{"/nowhere/at/all|/dev/null|/", OSP_LAUNCHER_BY_TASK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (found_in(cases[i].words) != cases[i].launcher)
			fail_msg("%s: %d", cases[i].words, found_in(cases[i].words));
	}
	setenv("PET_RDZV_BACKEND", "static", 1);
	assert_int_equal(found_in("torchrun|t.py"), OSP_LAUNCHER_BY_TASK);
	setenv("PET_RDZV_BACKEND", "c10d", 1);
	assert_int_equal(found_in("torchrun|t.py"), OSP_LAUNCHER_C10D);
	unsetenv("PET_RDZV_BACKEND");
}

static enum osp_launcher found_in_file(const char *text, size_t bytes, size_t file_bytes)
{
	char path[64], line[128];
	enum osp_launcher found;
	int file;

	snprintf(path, sizeof(path), "%s/train.sh", folder);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, bytes), bytes);
	assert_int_equal(ftruncate(file, (off_t)file_bytes), 0);
	close(file);
	snprintf(line, sizeof(line), "-N2|bash|%s|c10d", path);
	found = found_in(line);
	assert_int_equal(unlink(path), 0);
	return found;
}

static void finds_launchers_in_scripts(void **state)
{
	static const struct {
		const char *text;
		enum osp_launcher launcher;
	} cases[] = {
		{"#!/bin/sh\nexec torchrun --nproc-per-node=8 \\\n  --rdzv-backend=c10d train.py\n",
		 OSP_LAUNCHER_C10D},
		{"  # torchrun --rdzv-backend=c10d\ntorchrun --node-rank=$R t.py\n",
		 OSP_LAUNCHER_BY_TASK},
		{"# ray start\n\tray start --head\n", OSP_LAUNCHER_RAY},
		{"export R=$SLURM_NODEID\ntorchrun --node-rank=$R t.py\n", OSP_LAUNCHER_NODEID},
		{"torchrun --rdzv-backend=", OSP_LAUNCHER_BY_TASK},
		{"", OSP_LAUNCHER_BY_TASK},
	};
	const char *last = "torchrun --rdzv-backend=c10d t.py";

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t bytes = strlen(cases[i].text);

		if (found_in_file(cases[i].text, bytes, bytes) != cases[i].launcher)
			fail_msg("%s", cases[i].text);
	}
	/* what follows a zero byte is not read, nor a file of more than 64 KiB */
	assert_int_equal(found_in_file("\0--rdzv-backend=c10d", 20, 20), OSP_LAUNCHER_BY_TASK);
	assert_int_equal(found_in_file(last, strlen(last), 64 * 1024), OSP_LAUNCHER_C10D);
	assert_int_equal(found_in_file(last, strlen(last), 64 * 1024 + 1), OSP_LAUNCHER_BY_TASK);
}

static void put(const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* What a step's words name, and what that names in turn. */
static void finds_launchers_that_are_named(void **state)
{
	static const struct {
		const char *first, *second, *third, *words;
		enum osp_launcher launcher;
	} cases[] = {
		/* a script that calls another: beside it, by a variable, by its own folder */
		{"bash b.sh\n", "torchrun --rdzv-backend=c10d t.py", "", "bash|F/a.sh",
		 OSP_LAUNCHER_C10D},
		{"exec \"$HERE\"/b.sh\n", "ray start", "", "bash|F/a.sh", OSP_LAUNCHER_RAY},
		{"source \"$(dirname \"$0\")/b.sh\"\n", "ray start", "", "F/a.sh",
		 OSP_LAUNCHER_RAY},
		{"bash b.sh", "bash c.sh", "ray start", "bash|F/a.sh", OSP_LAUNCHER_RAY},
		{"# bash b.sh\n", "ray start", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		{"bash a.sh; bash a.sh", "", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		{"", "", "", "bash|-c|cd F && bash $HERE/b.sh", OSP_LAUNCHER_BY_TASK},
		{"", "ray start", "", "bash|-c|cd F && bash $HERE/b.sh", OSP_LAUNCHER_RAY},
		/* a variable that was exported, if it is named */
		{"", "", "", "bash|-c|$LAUNCH train.py", OSP_LAUNCHER_C10D},
		{"eval ${LAUNCH}", "", "", "bash|F/a.sh", OSP_LAUNCHER_C10D},
		{"echo $LAUNCHED", "", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		{"# $LAUNCH", "", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		{"echo ${LAUNCH", "", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		{"$LOOP", "", "", "bash|F/a.sh", OSP_LAUNCHER_BY_TASK},
		/* Python that starts programs, and Python that says how it is started */
		{"python d.py", "", "", "bash|F/a.sh", OSP_LAUNCHER_C10D},
		{"", "", "", "torchrun|--node-rank=1|F/e.py", OSP_LAUNCHER_BY_TASK},
		{"", "", "", "python3|F/d.py", OSP_LAUNCHER_C10D},
	};

	(void)state;
	put("d.py", "import subprocess\nsubprocess.run(['torchrun', '--rdzv_backend', 'c10d'])\n");
	put("e.py", "'''torchrun --rdzv_backend=c10d e.py'''\n");
	setenv("HERE", folder, 1);
	setenv("LAUNCH", "torchrun --rdzv_backend c10d", 1);
	setenv("LOOP", "$LOOP $LOOP $LOOP", 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char line[256], *at;

		put("a.sh", cases[i].first);
		put("b.sh", cases[i].second);
		put("c.sh", cases[i].third);
		at = strstr(cases[i].words, "F");
		if (at)
			snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - cases[i].words),
				 cases[i].words, folder, at + 1);
		else
			snprintf(line, sizeof(line), "%s", cases[i].words);
		if (found_in(line) != cases[i].launcher)
			fail_msg("case %zu: %s: %d", i, line, found_in(line));
	}
	for (const char *name = "abc"; *name; name++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%c.sh", folder, *name);
		assert_int_equal(unlink(path), 0);
		snprintf(path, sizeof(path), "%s/%c.py", folder, *name + 3);
		assert_true(*name == 'c' || unlink(path) == 0);
	}
	unsetenv("HERE");
	unsetenv("LAUNCH");
	unsetenv("LOOP");
}

/* Neither a pipe that nobody writes to nor a folder keeps srun. */
static void waits_for_no_file(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(found_in(path), OSP_LAUNCHER_BY_TASK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(found_in(folder), OSP_LAUNCHER_BY_TASK);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_launchers_in_words),
		cmocka_unit_test(finds_launchers_in_scripts),
		cmocka_unit_test(finds_launchers_that_are_named),
		cmocka_unit_test(waits_for_no_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
