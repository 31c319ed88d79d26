/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_counts.c - "8(x3),4": a number for each node of a list, as in SLURM_JOB_CPUS_PER_NODE */
#include "lib/base/node_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"

/* Reads one number after the other from "8(x3),4". */
struct counts {
	const char *at;
	unsigned long number;
	unsigned long again; /* how often the number still comes */
};

static bool read_number(const char **at, unsigned long *number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*number = strtoul(*at, &end, 10);
	*at = end;
	return *number <= UINT32_MAX;
}

static bool next_count(struct counts *counts)
{
	if (counts->again) {
		counts->again--;
		return true;
	}
	if (!read_number(&counts->at, &counts->number))
		return false;
	if (counts->at[0] == '(' && counts->at[1] == 'x') {
		counts->at += 2;
		if (!read_number(&counts->at, &counts->again) || !counts->again ||
		    *counts->at != ')')
			return false;
		counts->again--;
		counts->at++;
	}
	if (*counts->at == ',')
		counts->at++;
	else if (*counts->at)
		return false;
	return true;
}

/* --- the numbers that stay -------------------------------------------------------------------- */

struct sieve {
	struct counts counts;
	char **kept;
	uint32_t kept_count;
	uint32_t kept_room;
	uint32_t found; /* how many of the kept ones, in order */
	struct osp_text text;
	unsigned long number; /* of the run to be written */
	uint32_t run;
};

static int add_kept(const char *name, void *context)
{
	struct sieve *sieve = context;
	char **kept;

	if (sieve->kept_count == sieve->kept_room) {
		sieve->kept_room = sieve->kept_room ? 2 * sieve->kept_room : 64;
		kept = realloc(sieve->kept, sieve->kept_room * sizeof(*kept));
		if (!kept)
			return 1;
		sieve->kept = kept;
	}
	sieve->kept[sieve->kept_count] = strdup(name);
	return sieve->kept[sieve->kept_count++] == NULL;
}

static void write_run(struct sieve *sieve)
{
	if (!sieve->run)
		return;
	osp_text_printf(&sieve->text, "%s%lu", sieve->text.length_bytes ? "," : "", sieve->number);
	if (sieve->run > 1)
		osp_text_printf(&sieve->text, "(x%u)", sieve->run);
	sieve->run = 0;
}

/* Keeps the number of a kept node. Both lists have the same order, so only the next kept name is
 * compared. */
static int sift(const char *name, void *context)
{
	struct sieve *sieve = context;

	if (!next_count(&sieve->counts))
		return 1;
	if (sieve->found == sieve->kept_count || strcmp(sieve->kept[sieve->found], name) != 0)
		return 0;
	sieve->found++;
	if (sieve->counts.number != sieve->number)
		write_run(sieve);
	sieve->number = sieve->counts.number;
	sieve->run++;
	return 0;
}

char *osp_node_counts_keep(const char *nodes, const char *counts, const char *kept)
{
	struct sieve sieve = {.counts = {.at = counts}, .text = OSP_TEXT_INIT};
	bool good = osp_hostlist_expand(kept, add_kept, &sieve, NULL) == 0 &&
		    osp_hostlist_expand(nodes, sift, &sieve, NULL) == 0;

	write_run(&sieve);
	good = good && sieve.found == sieve.kept_count && !sieve.counts.again && !*sieve.counts.at;
	for (uint32_t i = 0; i < sieve.kept_count; i++)
		free(sieve.kept[i]);
	free(sieve.kept);
	if (!good) {
		osp_text_free(&sieve.text);
		return NULL;
	}
	return osp_text_take(&sieve.text);
}
