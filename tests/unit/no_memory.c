/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_memory.c - makes the N-th allocation of a test fail */
#include "tests/unit/no_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static size_t fail_at; /* 0: none */
static size_t seen;

static bool fails(void)
{
	if (++seen != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

void no_memory_at(size_t n)
{
	seen = 0;
	fail_at = n;
}

static size_t fail_each(bool (*operation)(void *context), void *context, bool each_counts)
{
	bool success;

	for (size_t n = 1;; n++) {
		no_memory_at(n);
		success = operation(context);
		fail_at = 0;
		if (seen < n) {
			assert_true(success);
			return n - 1;
		}
		if (success && each_counts)
			fail_msg("success without allocation %zu", n);
	}
}

size_t no_memory_at_each(bool (*operation)(void *context), void *context)
{
	return fail_each(operation, context, true);
}

size_t no_memory_everywhere(bool (*operation)(void *context), void *context)
{
	return fail_each(operation, context, false);
}
