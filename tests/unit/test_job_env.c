/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of a submission's environment, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "sched/job_env.h"

#define BEYOND	1000
#define ENTRIES (OSP_ENVIRONMENT_ENTRIES_MAX + BEYOND)

/* --- Slurm's memory --------------------------------------------------------------------------- */

void *slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char *file,
		    int line, const char *function);
void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool may_fail,
		      const char *file, int line, const char *function);
void slurm_xfree(void **item);

static int freed;

void *slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char *file,
		    int line, const char *function)
{
	(void)clear, (void)may_fail, (void)file, (void)line, (void)function;
	return calloc(count, size);
}

void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool may_fail,
		      const char *file, int line, const char *function)
{
	(void)clear, (void)may_fail, (void)file, (void)line, (void)function;
	*item = realloc(*item, count * size);
	return *item;
}

void slurm_xfree(void **item)
{
	freed++;
	*item = NULL;
}

/* --- memory that ends whoever reads too far --------------------------------------------------- */

/* `bytes` whole pages that can be read, and behind them one that cannot. */
static char *before_the_end(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	assert_true(memory != MAP_FAILED && bytes % page == 0);
	assert_int_equal(mprotect(memory + bytes, page, PROT_NONE), 0);
	return memory;
}

/* Words without an end, the last that can be read. */
static char *endless(const char *words)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *end = before_the_end(page) + page;

	return memcpy(end - strlen(words), words, strlen(words));
}

static char *list[ENTRIES];
static const char *const inherited[] = {"ONESPINE_LEVEL=", "ONESPINE_SPARES=", NULL};
static struct osp_our_environment ours;
static uint32_t count;

static void fill(uint32_t entries, char *entry)
{
	for (uint32_t i = 0; i < entries; i++)
		list[i] = entry;
	count = entries;
	freed = 0;
}

static void read_it(void)
{
	osp_job_env_read(list, &count, inherited, &ours);
}

/* --- what is read ----------------------------------------------------------------------------- */

static void reads_our_variables(void **state)
{
	(void)state;
	fill(7, "PATH=/bin");
	list[1] = "ONESPINE_GANG=leaf";
	list[2] = "ONESPINE_GANG=spine";
	list[3] = "ONESPINE_GANG_SPARES=2";
	list[4] = NULL;
	list[5] = "ONESPINE_GANG_ENV=off"; /* is the nodes' */
	list[6] = "ONESPINE_GANG_SPARE=7";
	read_it();
	assert_string_equal(ours.values[OSP_JOB_GANG], "leaf");
	assert_string_equal(ours.values[OSP_JOB_GANG_SPARES], "2");
	assert_null(ours.values[OSP_JOB_GANG_ENV]);
	assert_null(ours.values[OSP_JOB_GANG_LAYOUT]);
	assert_null(ours.too_long);
	assert_false(ours.cut);
	assert_int_equal(count, 7);
}

static void drops_what_is_inherited(void **state)
{
	(void)state;
	fill(6, "A=1");
	list[0] = "ONESPINE_LEVEL=spine";
	list[2] = "ONESPINE_SPARES=1";
	list[4] = "ONESPINE_LEVELS=kept";
	list[5] = "ONESPINE_LEVEL=again";
	read_it();
	assert_int_equal(freed, 3);
	assert_int_equal(count, 3);
	assert_string_equal(list[0], "A=1");
	assert_string_equal(list[1], "A=1");
	assert_string_equal(list[2], "ONESPINE_LEVELS=kept");
	for (int i = 3; i < 6; i++)
		assert_null(list[i]);
}

static void lists_without_entries(void **state)
{
	(void)state;
	fill(0, NULL);
	count = UINT32_MAX - 1; /* NO_VAL */
	osp_job_env_read(NULL, &count, inherited, &ours);
	assert_int_equal(ours.entries, 0);
	assert_int_equal(count, UINT32_MAX - 1);
}

/* --- what is not ------------------------------------------------------------------------------ */

static void reads_no_entry_behind_the_limit(void **state)
{
	char *nowhere = before_the_end((size_t)sysconf(_SC_PAGESIZE)) + sysconf(_SC_PAGESIZE);

	(void)state;
	fill(ENTRIES, nowhere);
	for (uint32_t i = 0; i < OSP_ENVIRONMENT_ENTRIES_MAX; i++)
		list[i] = "A=1";
	list[7] = "ONESPINE_LEVEL=spine";
	list[OSP_ENVIRONMENT_ENTRIES_MAX - 1] = "ONESPINE_GANG=leaf";
	read_it();
	assert_true(ours.cut);
	assert_int_equal(ours.entries, ENTRIES);
	assert_string_equal(ours.values[OSP_JOB_GANG], "leaf");
	assert_int_equal(freed, 1);
	assert_int_equal(count, ENTRIES - 1);
	assert_ptr_equal(list[OSP_ENVIRONMENT_ENTRIES_MAX - 2], ours.values[OSP_JOB_GANG] - 14);
	for (uint32_t i = OSP_ENVIRONMENT_ENTRIES_MAX - 1; i < count; i++)
		assert_ptr_equal(list[i], nowhere);
	assert_null(list[count]);

	fill(OSP_ENVIRONMENT_ENTRIES_MAX, "A=1");
	read_it();
	assert_false(ours.cut);
}

static void reads_no_value_of_others(void **state)
{
	static const char *const words[] = {"A", "OM", "ONESPINF", "ONESPINE_GANF",
					    "ONESPINE_GANG_SPARET"};

	(void)state;
	fill(1, NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		list[0] = endless(words[i]);
		read_it();
		assert_null(ours.values[OSP_JOB_GANG]);
	}
}

static void measures_no_value_further_than_the_limit(void **state)
{
	static const char name[] = "ONESPINE_GANG=";
	char *entry = before_the_end(OSP_ENVIRONMENT_VALUE_BYTES_MAX * 2) +
		      OSP_ENVIRONMENT_VALUE_BYTES_MAX - (sizeof(name) - 1);

	(void)state;
	fill(1, entry);
	memset(memcpy(entry, name, sizeof(name) - 1) + sizeof(name) - 1, 'x',
	       OSP_ENVIRONMENT_VALUE_BYTES_MAX);
	read_it();
	assert_string_equal(ours.too_long, "ONESPINE_GANG");
	assert_null(ours.values[OSP_JOB_GANG]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_our_variables),
		cmocka_unit_test(drops_what_is_inherited),
		cmocka_unit_test(lists_without_entries),
		cmocka_unit_test(reads_no_entry_behind_the_limit),
		cmocka_unit_test(reads_no_value_of_others),
		cmocka_unit_test(measures_no_value_further_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
