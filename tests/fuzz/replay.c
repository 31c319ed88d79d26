/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - runs the fuzzers over their corpus, without libFuzzer
 *
 *	replay              every fuzzer over tests/fuzz/corpus/NAME/
 *	replay NAME FILE... one fuzzer over these files, as to look at a crash
 */
#include <dirent.h>

#include "lib/base/text.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX ((size_t)64 * 1024 * 1024)

static struct fuzzer *fuzzers;

void fuzz_register(struct fuzzer *fuzzer)
{
	fuzzer->next = fuzzers;
	fuzzers = fuzzer;
}

static int run_file(const struct fuzzer *fuzzer, const char *path)
{
	size_t length;
	char *data = osp_read_file(path, INPUT_BYTES_MAX, &length);

	if (!data) {
		perror(path);
		return -1;
	}
	fuzzer->run((const uint8_t *)data, length);
	free(data);
	return 0;
}

/* Returns how many files there were, or -1. */
static int run_corpus(const struct fuzzer *fuzzer, const char *source)
{
	char folder[2048], path[4096];
	struct dirent *entry;
	int count = 0, rc = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source, fuzzer->name);
	dir = opendir(folder);
	if (!dir) {
		perror(folder);
		return -1;
	}
	while (!rc && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		rc = run_file(fuzzer, path);
		count++;
	}
	closedir(dir);
	return rc ? -1 : count;
}

static int run_all(void)
{
	const char *source = getenv("srcdir");
	int failed = 0;

	for (const struct fuzzer *f = fuzzers; f; f = f->next) {
		int count = run_corpus(f, source ? source : ".");

		printf("%s: %d inputs\n", f->name, count);
		failed |= count <= 0;
	}
	return failed || !fuzzers;
}

int main(int argc, char **argv)
{
	const struct fuzzer *fuzzer = fuzzers;
	int failed = 0;

	if (argc == 1)
		return run_all();
	while (fuzzer && strcmp(fuzzer->name, argv[1]) != 0)
		fuzzer = fuzzer->next;
	if (!fuzzer) {
		fprintf(stderr, "replay: no fuzzer %s\n", argv[1]);
		return 1;
	}
	for (int i = 2; i < argc; i++)
		failed |= run_file(fuzzer, argv[i]);
	return failed ? 1 : 0;
}
