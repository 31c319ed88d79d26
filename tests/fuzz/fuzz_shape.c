/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_shape.c - what is found in the options of any script
 *
 * The first two bytes are the facts: the release of Slurm, and the number of nodes.
 *
 * Parser: lib/env/script_shape.c
 */
#include "lib/env/facts.h"
#include "lib/env/script_shape.h"
#include "tests/fuzz/fuzz.h"

struct found {
	size_t count, stop;
	int lines;
};

static int take(void *context, const struct osp_finding *finding)
{
	struct found *found = context;

	fuzz_check(finding->rule && finding->rule->id[0] == 'S' && finding->rule->reason);
	fuzz_check(finding->setting && finding->setting->name && finding->setting->value);
	fuzz_check(finding->setting->line >= 1 && finding->setting->line <= found->lines);
	fuzz_check(finding->setting->column >= 1);
	return ++found->count == found->stop ? -1 : 0;
}

static void read_facts(const uint8_t *data, struct osp_facts *facts)
{
	static const char *const releases[] = {"", "20.11", "22.05.8", "23.02", "25.11.7"};
	static const char *const nodes[] = {"", "1", "2", "4096"};

	fuzz_check(!osp_facts_set(facts, OSP_FACT_SLURM, releases[data[0] % 5], NULL));
	fuzz_check(!osp_facts_set(facts, OSP_FACT_NODES, nodes[data[1] % 4], NULL));
}

FUZZER(shape)
{
	static struct osp_facts facts;
	struct found found = {.lines = 1};
	struct osp_script *script;

	if (size < 2)
		return 0;
	script = osp_script_read("f", (const char *)data + 2, size - 2, NULL);
	if (!script)
		return 0;
	for (size_t i = 2; i < size; i++)
		found.lines += data[i] == '\n';
	memset(&facts, 0, sizeof(facts));
	read_facts(data, &facts);
	fuzz_check(osp_script_nodes(script) < 1000000);
	fuzz_check(!osp_script_shape(script, &facts, take, &found));
	if (found.count) {
		found = (struct found){.stop = found.count, .lines = found.lines};
		fuzz_check(osp_script_shape(script, &facts, take, &found) == -1);
	}
	osp_script_free(script);
	return 0;
}
