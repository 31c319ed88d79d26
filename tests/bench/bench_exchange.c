/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_exchange.c - how long slurmctld's node lock is held while a changed topology comes in force
 *
 * With a slurmctld that is not there (tests/fake/slurmctld.h): what is timed is all that is done
 * between taking the lock and giving it back. Prints a table; asserts nothing. Run by hand:
 * tests/bench/bench_exchange
 */
#include "tests/fake/slurmctld.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/rounds.h"

#define ROUNDS 101

static double exchange_once(void)
{
	const char **names = calloc((size_t)node_record_count, sizeof(*names));
	struct shadow_exchange other = {.generation = shadow_state.generation};
	struct osp_error wrong = {.text = ""};
	double start;

	for (int n = 0; names && n < node_record_count; n++)
		names[n] = node_record_table_ptr[n]->name;
	if (!names || !shadow_fabric_lay(&other.fabric, shadow_state.read, names,
					 (uint32_t)node_record_count, &wrong))
		abort();
	/* the same topology is read, so only what is laid over the nodes is exchanged */
	other.read = shadow_state.read;
	start = bench_now_us();
	if (!shadow_state_exchange(&other))
		abort();
	start = bench_now_us() - start;
	shadow_fabric_free(&other.fabric);
	free(names);
	return start;
}

static void run(uint32_t nodes)
{
	double us[ROUNDS], middle;

	fake_shadow_begin(nodes, 16, "defaults:\n  level: spine\n");
	for (int i = 0; i < ROUNDS; i++)
		us[i] = exchange_once();
	middle = bench_median(us, ROUNDS);
	printf("%7u %9.1f %9.1f\n", nodes, middle, us[ROUNDS - 1]);
	fake_shadow_end();
}

int main(void)
{
	static const uint32_t sizes[] = {1024, 8192, 65536};

	printf("  nodes median us largest us\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run(sizes[i]);
	return 0;
}
