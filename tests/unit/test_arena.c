/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_arena.c - memory taken piece by piece, and arrays that grow: no size wraps around */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/arena.h"
#include "lib/base/room.h"

/* AddressSanitizer's malloc() ends the process for a size that nobody has, unless it is told so. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void pieces_are_apart_zeroed_and_aligned(void **state)
{
	struct osp_arena arena = OSP_ARENA_INIT;
	char *last = NULL;

	(void)state;
	for (size_t bytes = 1; bytes < 200000; bytes *= 3) {
		char *piece = osp_arena_take(&arena, bytes);

		assert_non_null(piece);
		assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(piece[i], 0);
		memset(piece, 'x', bytes);
		if (last)
			assert_int_equal(*last, 'x');
		last = piece;
	}
	assert_string_equal(osp_arena_copy(&arena, "words", 3), "wor");
	assert_string_equal(osp_arena_copy(&arena, NULL, 0), "");
	osp_arena_free(&arena);
}

/* A size that would wrap around is memory that nobody has; what was taken before stays. */
static void sizes_do_not_wrap(void **state)
{
	struct osp_arena arena = OSP_ARENA_INIT;
	char *words = osp_arena_copy(&arena, "words", 5);

	(void)state;
	assert_null(osp_arena_take(&arena, SIZE_MAX));
	assert_null(osp_arena_take(&arena, SIZE_MAX - sizeof(max_align_t) + 1));
	/* rounded up it is no size, and as a block with its head neither */
	assert_null(osp_arena_take(&arena, SIZE_MAX - sizeof(max_align_t)));
	assert_null(osp_arena_copy(&arena, "words", SIZE_MAX));
	assert_string_equal(words, "words");
	assert_string_equal(osp_arena_copy(&arena, "more", 4), "more");
	osp_arena_free(&arena);
}

static void arrays_grow(void **state)
{
	uint32_t *array = NULL, room = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(osp_make_room((void **)&array, &room, i, sizeof(*array)), 0);
		assert_true(room > i);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

/* More entries than 32 bits count, and more bytes than there are, are refused; nothing changes. */
static void rooms_do_not_wrap(void **state)
{
	char one[1];
	void *array = one;
	uint32_t room = (uint32_t)1 << 31;

	(void)state;
	assert_int_equal(osp_make_room(&array, &room, room, 1), -1);
	assert_int_equal(room, (uint32_t)1 << 31);
	room = 64;
	assert_int_equal(osp_make_room(&array, &room, room, SIZE_MAX / 64), -1);
	assert_int_equal(room, 64);
	assert_ptr_equal(array, one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_apart_zeroed_and_aligned),
		cmocka_unit_test(sizes_do_not_wrap),
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(rooms_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
