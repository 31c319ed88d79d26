/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - the faults that a fake library is reported by its environment variable
 *
 * Words separated by blanks: "KEY=VALUE", or "KEY" for 1. What may stand before a call answers:
 * "hang:FUNCTION", "hang-once:FUNCTION" (until ONESPINE_FAKE_MARK exists, which the first to come
 * makes), "unkillable:FUNCTION" (ONESPINE_FAKE_MARK lies in a file system that is frozen: the
 * process sleeps in state D until it thaws), "crash:FUNCTION", "error:FUNCTION=CODE",
 * "error-once:FUNCTION=CODE", "slow:FUNCTION=MS". "sticky:FUNCTION=CODE" and "sticky-once:...": as
 * a GPU's exceptions come, the call itself succeeds, and every later one of the process, of any
 * function but cuGetErrorName(), answers CODE.
 */
#ifndef OSP_FAKE_WORDS_H
#define OSP_FAKE_WORDS_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value of `key` in `words`. */
static inline bool fake_word_in(const char *words, const char *key, long *value)
{
	size_t length = strlen(key);

	while (words && *words) {
		words += strspn(words, " ");
		if (strncmp(words, key, length) == 0 && strchr("= ", words[length])) {
			*value = words[length] == '=' ? strtol(words + length + 1, NULL, 0) : 1;
			return true;
		}
		words += strcspn(words, " ");
	}
	return false;
}

/* The same in the words of `variable`. */
static inline bool fake_word(const char *variable, const char *key, long *value)
{
	return fake_word_in(getenv(variable), key, value);
}

/* True for the first process that comes. */
static inline bool fake_first(void)
{
	const char *mark = getenv("ONESPINE_FAKE_MARK");
	int made = mark ? open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;

	if (made >= 0)
		close(made);
	return made >= 0;
}

/* Does this call break the process for those that follow it? What such a one answers; 0: it is
 * whole. */
static inline int fake_stuck(const char *variable, const char *function)
{
	static int stuck;
	int before = strcmp(function, "cuGetErrorName") ? stuck : 0;
	char word[96];
	long value;

	snprintf(word, sizeof(word), "sticky:%s", function);
	if (fake_word(variable, word, &value))
		stuck = (int)value;
	snprintf(word, sizeof(word), "sticky-once:%s", function);
	if (fake_word(variable, word, &value) && fake_first())
		stuck = (int)value;
	return before;
}

/* What happens to a call before it answers: an error, or 0. */
static inline int fake_entered(const char *variable, const char *function)
{
	int stuck = fake_stuck(variable, function);
	char word[96];
	long value;

	if (stuck)
		return stuck;
	snprintf(word, sizeof(word), "hang:%s", function);
	while (fake_word(variable, word, &value))
		pause();
	snprintf(word, sizeof(word), "hang-once:%s", function);
	if (fake_word(variable, word, &value) && fake_first())
		for (;;)
			pause();
	snprintf(word, sizeof(word), "slow:%s", function);
	if (fake_word(variable, word, &value))
		usleep((useconds_t)value * 1000);
	snprintf(word, sizeof(word), "unkillable:%s", function);
	if (fake_word(variable, word, &value))
		fake_first();
	snprintf(word, sizeof(word), "crash:%s", function);
	if (fake_word(variable, word, &value))
		abort();
	snprintf(word, sizeof(word), "error-once:%s", function);
	if (fake_word(variable, word, &value) && fake_first())
		return (int)value;
	snprintf(word, sizeof(word), "error:%s", function);
	return fake_word(variable, word, &value) ? (int)value : 0;
}

/* --- processes that have a GPU ---------------------------------------------------------------- */

/* "contexts": each process that has made a context on GPU N leaves a folder of its own beside
 * ONESPINE_FAKE_MARK, by which it is counted until its parent has taken its status. */
static inline bool fake_has_contexts(void)
{
	long value;

	return fake_word("ONESPINE_FAKE_CUDA", "contexts", &value) && getenv("ONESPINE_FAKE_MARK");
}

static inline void fake_note_context(int gpu)
{
	char path[512];

	if (!fake_has_contexts())
		return;
	snprintf(path, sizeof(path), "%s.gpu%d", getenv("ONESPINE_FAKE_MARK"), gpu);
	mkdir(path, 0777);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%ld", (long)getpid());
	mkdir(path, 0777);
}

/* Processes but this one that have a context on a GPU. */
static inline unsigned int fake_count_contexts(int gpu)
{
	struct dirent *entry;
	unsigned int count = 0;
	char path[512];
	DIR *folder;

	if (!fake_has_contexts())
		return 0;
	snprintf(path, sizeof(path), "%s.gpu%d", getenv("ONESPINE_FAKE_MARK"), gpu);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		pid_t process = (pid_t)atol(entry->d_name);

		count += process > 0 && process != getpid() && kill(process, 0) == 0;
	}
	if (folder)
		closedir(folder);
	return count;
}

#endif
