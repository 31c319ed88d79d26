/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_memory.h - makes the N-th allocation of a test fail
 *
 * For test programs linked with tests/unit/no_memory.c and WRAP_ALLOCATIONS, which send malloc,
 * calloc and realloc of the program and of lib/ (not of shared libraries) through it. One thread.
 */
#ifndef OSP_TESTS_NO_MEMORY_H
#define OSP_TESTS_NO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Runs `operation` again and again, failing its first allocation, then its second, and so on, until
 * it gets through without meeting the failure. `operation` frees what it got and returns whether it
 * succeeded; a success in spite of a failure fails the test, as does a leak (under ASan or
 * valgrind). Returns how many allocations it made. */
size_t no_memory_at_each(bool (*operation)(void *context), void *context);

/* The same for what may succeed without one of its allocations: `operation` looks itself at what it
 * then does. Without a failure it must succeed. */
size_t no_memory_everywhere(bool (*operation)(void *context), void *context);

/* Makes the N-th allocation from here on fail, once; 0: none. */
void no_memory_at(size_t n);

#endif
