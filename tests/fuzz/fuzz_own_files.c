/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_own_files.c - any answer of the child that reads a user's files in slurmstepd
 *
 * Parser: spank/own_files.c
 */
#include "spank/own_files.c" /* the answer's reader is its own */

#include "tests/fuzz/fuzz.h"

/* Tells only what it may, each a fact's text; the file is a part of the answer. */
static void check_taken(const struct osp_own_files *own, const struct osp_facts *facts, size_t size)
{
	for (int id = 0; id < OSP_FACT_COUNT; id++) {
		const struct osp_fact *fact = &facts->facts[id];

		fuzz_check(!fact->known || may_report((enum osp_fact_id)id));
		fuzz_check(memchr(fact->text, '\0', sizeof(fact->text)));
		fuzz_check(!strchr(fact->text, '\n'));
	}
	if (own->conf.text)
		fuzz_check(own->conf.text > own->buffer && own->conf.text <= own->buffer + size);
}

FUZZER(own_files)
{
	static struct osp_facts facts;
	struct osp_own_files own = {.buffer = malloc(size + 1)};

	fuzz_check(own.buffer);
	if (size)
		memcpy(own.buffer, data, size);
	own.buffer[size] = '\0';
	memset(&facts, 0, sizeof(facts));
	if (!take_answer(&own, &facts))
		fuzz_check(!own.conf.text);
	check_taken(&own, &facts, size);
	osp_own_files_free(&own);
	return 0;
}
