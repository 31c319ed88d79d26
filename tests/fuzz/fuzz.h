/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - one fuzzer a file, for libFuzzer and for the replay of its corpus
 *
 * A fuzzer is tests/fuzz/fuzz_NAME.c, which says FUZZER(NAME) { ... } and uses `data` and `size`,
 * returns 0, and ends the program with fuzz_check() where a promise is broken. Its corpus is
 * tests/fuzz/corpus/NAME/. Its line "Parser: FILE.c..." names the files it is about: their words
 * are its dictionary (more may stand in tests/fuzz/NAME.dict), and `make fuzz-reach` counts their
 * lines that ran. To add one: its source in FUZZ_SOURCES of tests/fuzz/local.mk, and at least one
 * file of corpus.
 *
 * `make fuzz` builds each with libFuzzer and runs it FUZZ_SECONDS (30) long. `make check` builds
 * all of them into tests/fuzz/replay, with any compiler, and runs them over the corpus.
 */
#ifndef OSP_TESTS_FUZZ_H
#define OSP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_f(const uint8_t *data, size_t size);

#ifdef OSP_FUZZ_REPLAY

struct fuzzer {
	const char *name;
	fuzz_f *run;
	struct fuzzer *next;
};

/* Called before main() by each fuzzer's constructor. */
void fuzz_register(struct fuzzer *fuzzer);

#define FUZZER(name)                                                                               \
	static fuzz_f run_##name;                                                                  \
	static struct fuzzer fuzzer_##name = {#name, run_##name, NULL};                            \
	__attribute__((constructor)) static void register_##name(void)                             \
	{                                                                                          \
		fuzz_register(&fuzzer_##name);                                                     \
	}                                                                                          \
	static int run_##name(const uint8_t *data, size_t size)

#else

fuzz_f LLVMFuzzerTestOneInput;

#define FUZZER(name) int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)

#endif

/* A promise that must hold for every input. */
#define fuzz_check(promise)                                                                        \
	do {                                                                                       \
		if (!(promise)) {                                                                  \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
