/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.c - what earlier checks say about a node and a GPU: strikes, lemons, trends */
#include "lib/health/history.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"

#define DAY_S 86400

/* Name spaces of the table of names. */
enum { TAG_RUN, TAG_WORD };

struct gpu {
	uint32_t run;
	const char *uuid;
	const char *check;
};

struct figure {
	uint32_t run;
	const char *key; /* a GPU's UUID or the instance */
	const char *subject;
	const char *name;
	double value;
	size_t order; /* the order in which they were added */
};

struct growth {
	uint32_t run;
	struct osp_history_growth grown;
};

/* A growing array of one of them. */
struct list {
	void *entries;
	uint32_t room;
	uint32_t count;
};

struct osp_history {
	struct osp_arena arena;
	struct osp_name_table names;
	struct list words;    /* each string once: const char * */
	struct list runs;     /* struct osp_history_run */
	struct list gpus;     /* struct gpu */
	struct list figures;  /* struct figure */
	struct list growths;  /* struct growth */
	struct list found;    /* struct osp_history_growth */
	struct list subjects; /* struct osp_history_subject */
	struct list trends;   /* struct osp_history_trend */
	double *values;	      /* of the trends */
};

struct osp_history *osp_history_new(void)
{
	return calloc(1, sizeof(struct osp_history));
}

void osp_history_free(struct osp_history *history)
{
	if (!history)
		return;
	osp_arena_free(&history->arena);
	osp_name_table_free(&history->names);
	free(history->words.entries);
	free(history->runs.entries);
	free(history->gpus.entries);
	free(history->figures.entries);
	free(history->growths.entries);
	free(history->found.entries);
	free(history->subjects.entries);
	free(history->trends.entries);
	free(history->values);
	free(history);
}

static void *add_entry(struct list *list, size_t bytes)
{
	char *entry;

	if (osp_make_room(&list->entries, &list->room, list->count, bytes))
		return NULL;
	entry = (char *)list->entries + list->count++ * bytes;
	memset(entry, 0, bytes);
	return entry;
}

/* Copies a string; equal strings share one copy. */
static bool copy(struct osp_history *history, const char **to, const char *from)
{
	uint32_t index = osp_name_table_find(&history->names, TAG_WORD, from);
	const char **words;

	if (index != OSP_NAME_ABSENT) {
		words = history->words.entries;
		*to = words[index];
		return true;
	}
	*to = osp_arena_copy(&history->arena, from, strlen(from));
	words = *to ? add_entry(&history->words, sizeof(*words)) : NULL;
	if (!words)
		return false;
	*words = *to;
	return osp_name_table_add(&history->names, TAG_WORD, *to, history->words.count - 1) == 0;
}

/* --- adding ----------------------------------------------------------------------------------- */

static struct osp_history_run *run_at(const struct osp_history *history, uint32_t index)
{
	return (struct osp_history_run *)history->runs.entries + index;
}

int osp_history_add_run(struct osp_history *history, const struct osp_history_run *run)
{
	struct osp_history_run kept = *run, *entry;

	if (*run->id && osp_name_table_find(&history->names, TAG_RUN, run->id) != OSP_NAME_ABSENT)
		return 0;
	if (!copy(history, &kept.id, run->id) || !copy(history, &kept.node, run->node) ||
	    !copy(history, &kept.instance, *run->instance ? run->instance : run->node) ||
	    !copy(history, &kept.boot_id, run->boot_id) ||
	    !copy(history, &kept.depth, run->depth) || !copy(history, &kept.check, run->check) ||
	    !copy(history, &kept.reason, run->reason) ||
	    !copy(history, &kept.when, run->when ? run->when : ""))
		return -1;
	if (*kept.id && osp_name_table_add(&history->names, TAG_RUN, kept.id, history->runs.count))
		return -1;
	entry = add_entry(&history->runs, sizeof(*entry));
	if (!entry)
		return -1;
	*entry = kept;
	return 1;
}

int osp_history_add_gpu(struct osp_history *history, const char *uuid, const char *check)
{
	struct gpu *gpu = add_entry(&history->gpus, sizeof(*gpu));

	if (!gpu)
		return -1;
	gpu->run = history->runs.count - 1;
	return copy(history, &gpu->uuid, uuid) && copy(history, &gpu->check, check) ? 0 : -1;
}

int osp_history_add_figure(struct osp_history *history, const char *uuid, const char *subject,
			   const char *name, double value)
{
	struct figure *figure = add_entry(&history->figures, sizeof(*figure));

	if (!figure)
		return -1;
	figure->run = history->runs.count - 1;
	figure->value = value;
	figure->order = history->figures.count;
	figure->key = run_at(history, figure->run)->instance;
	if (*uuid && !copy(history, &figure->key, uuid))
		return -1;
	/* A GPU's figure is the same whatever number the GPU had. */
	return copy(history, &figure->subject, *uuid ? "" : subject) &&
			       copy(history, &figure->name, name)
		       ? 0
		       : -1;
}

int osp_history_add_growth(struct osp_history *history, const char *uuid, const char *subject,
			   const char *name, uint64_t more)
{
	struct growth *growth = add_entry(&history->growths, sizeof(*growth));
	struct osp_history_growth *grown;

	if (!growth)
		return -1;
	growth->run = history->runs.count - 1;
	grown = &growth->grown;
	grown->more = more;
	grown->key = run_at(history, growth->run)->instance;
	if (*uuid && !copy(history, &grown->key, uuid))
		return -1;
	return copy(history, &grown->subject, *uuid ? "" : subject) &&
			       copy(history, &grown->name, name)
		       ? 0
		       : -1;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* One run as seen by one subject, for sorting by subject and time. */
struct sight {
	const char *key;
	const char *check;
	const struct osp_history_run *run;
	uint32_t order;
	bool is_gpu;
};

static int compare_sights(const void *a, const void *b)
{
	const struct sight *one = a, *other = b;
	int order = (int)one->is_gpu - (int)other->is_gpu;

	if (!order)
		order = strcmp(one->key, other->key);
	if (!order)
		order = (one->run->time_s > other->run->time_s) -
			(one->run->time_s < other->run->time_s);
	return order ? order : (one->order > other->order) - (one->order < other->order);
}

static struct sight *all_sights(const struct osp_history *history, size_t *count)
{
	const struct gpu *gpus = history->gpus.entries;
	size_t total = (size_t)history->runs.count + history->gpus.count, n = 0;
	struct sight *sights = total ? calloc(total, sizeof(*sights)) : NULL;

	*count = 0;
	if (!sights)
		return NULL;
	for (uint32_t i = 0; i < history->runs.count; i++) {
		const struct osp_history_run *run = run_at(history, i);

		sights[n++] = (struct sight){run->instance, run->check, run, i, false};
	}
	for (uint32_t i = 0; i < history->gpus.count; i++)
		sights[n++] = (struct sight){gpus[i].uuid, gpus[i].check,
					     run_at(history, gpus[i].run), i, true};
	qsort(sights, n, sizeof(*sights), compare_sights);
	*count = n;
	return sights;
}

/* Returns what a run says about its subject. A GPU fails if a check names it; a run that failed for
 * another reason says that it is well. */
static enum osp_history_verdict verdict_of(const struct sight *sight)
{
	if (!sight->is_gpu || sight->run->verdict == OSP_HISTORY_OTHER)
		return sight->run->verdict;
	return *sight->check ? OSP_HISTORY_FAIL : OSP_HISTORY_PASS;
}

/* Returns where the subject was: a GPU in an instance, an instance under a name. Equal strings are
 * one pointer. */
static const char *place_of(const struct sight *sight)
{
	return sight->is_gpu ? sight->run->instance : sight->run->node;
}

/* Counts these places; they are few, and mostly one. */
static size_t count_places(const struct sight *sights, size_t count)
{
	size_t places = 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = 0;

		if (i && place_of(&sights[i]) == place_of(&sights[i - 1]))
			continue;
		while (n < i && place_of(&sights[n]) != place_of(&sights[i]))
			n++;
		places += n == i;
	}
	return places;
}

static void take_sight(struct osp_history_subject *subject, const struct sight *sight,
		       const struct sight *before, const struct osp_history_rule *rule)
{
	enum osp_history_verdict verdict = verdict_of(sight);
	bool again = before && subject->last == OSP_HISTORY_FAIL &&
		     before->run->boot_id == sight->run->boot_id &&
		     before->run->instance == sight->run->instance;

	subject->runs++;
	subject->last_s = sight->run->time_s;
	subject->node = sight->run->node;
	subject->instance = sight->run->instance;
	/* An error of ours neither begins nor ends a failure. */
	if (verdict == OSP_HISTORY_OTHER)
		return;
	subject->last = verdict;
	if (verdict != OSP_HISTORY_FAIL)
		return;
	subject->failed++;
	if (again)
		return;
	subject->strikes_ever++;
	if (sight->run->time_s > rule->now_s - (int64_t)rule->strike_days * DAY_S)
		subject->strikes++;
	subject->last_strike_s = sight->run->time_s;
	subject->last_check = sight->check;
	subject->last_reason = sight->run->reason;
}

static void judge_subject(struct osp_history_subject *subject, const struct sight *sights,
			  size_t count, const struct osp_history_rule *rule)
{
	const struct sight *reported = NULL; /* the last with a result */

	subject->key = sights->key;
	subject->is_gpu = sights->is_gpu;
	subject->first_s = sights->run->time_s;
	subject->last_check = "";
	subject->last_reason = "";
	for (size_t i = 0; i < count; i++) {
		take_sight(subject, &sights[i], reported, rule);
		if (verdict_of(&sights[i]) != OSP_HISTORY_OTHER)
			reported = &sights[i];
	}
	subject->nodes = count_places(sights, count);
	subject->lemon = subject->strikes >= rule->strikes;
}

static int compare_subjects(const void *a, const void *b)
{
	const struct osp_history_subject *one = a, *other = b;
	int order = (int)other->lemon - (int)one->lemon;

	if (!order)
		order = (other->strikes > one->strikes) - (other->strikes < one->strikes);
	if (!order)
		order = (int)one->is_gpu - (int)other->is_gpu;
	return order ? order : strcmp(one->key, other->key);
}

const struct osp_history_subject *
osp_history_judge(struct osp_history *history, const struct osp_history_rule *rule, size_t *count)
{
	size_t sight_count, last;
	struct sight *sights = all_sights(history, &sight_count);

	history->subjects.count = 0;
	*count = 0;
	for (size_t first = 0; first < sight_count; first = last) {
		struct osp_history_subject *subject =
			add_entry(&history->subjects, sizeof(*subject));

		if (!subject) {
			free(sights);
			return NULL;
		}
		for (last = first; last < sight_count &&
				   sights[last].is_gpu == sights[first].is_gpu &&
				   sights[last].key == sights[first].key;)
			last++;
		judge_subject(subject, sights + first, last - first, rule);
	}
	free(sights);
	*count = history->subjects.count;
	if (*count)
		qsort(history->subjects.entries, *count, sizeof(struct osp_history_subject),
		      compare_subjects);
	return history->subjects.entries;
}

/* --- trends ----------------------------------------------------------------------------------- */

struct sample {
	const struct figure *figure;
	int64_t time_s;
};

static int compare_samples(const void *a, const void *b)
{
	const struct sample *one = a, *other = b;
	int order = strcmp(one->figure->name, other->figure->name);

	if (!order)
		order = strcmp(one->figure->subject, other->figure->subject);
	if (!order)
		order = (one->time_s > other->time_s) - (one->time_s < other->time_s);
	return order ? order
		     : (one->figure->order > other->figure->order) -
			       (one->figure->order < other->figure->order);
}

static bool same_figure(const struct sample *one, const struct sample *other)
{
	return one->figure->name == other->figure->name &&
	       one->figure->subject == other->figure->subject;
}

static double mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void fill_trend(struct osp_history_trend *trend, const struct sample *samples, size_t count,
		       double *values)
{
	size_t quarter = count / 4;

	trend->name = samples->figure->name;
	trend->subject = samples->figure->subject;
	trend->count = count;
	trend->values = values;
	trend->least = trend->most = samples->figure->value;
	for (size_t i = 0; i < count; i++) {
		values[i] = samples[i].figure->value;
		if (values[i] < trend->least)
			trend->least = values[i];
		if (values[i] > trend->most)
			trend->most = values[i];
	}
	trend->first = values[0];
	trend->last = values[count - 1];
	if (quarter) {
		double before = mean(values, quarter);

		trend->change =
			before != 0 ? mean(values + count - quarter, quarter) / before - 1 : 0;
	}
}

static size_t samples_of(const struct osp_history *history, const char *key, struct sample *samples)
{
	const struct figure *figures = history->figures.entries;
	size_t count = 0;

	for (uint32_t i = 0; i < history->figures.count; i++)
		if (strcmp(figures[i].key, key) == 0)
			samples[count++] = (struct sample){&figures[i],
							   run_at(history, figures[i].run)->time_s};
	return count;
}

const struct osp_history_trend *osp_history_trends(struct osp_history *history, const char *key,
						   size_t *count)
{
	size_t room = history->figures.count ? history->figures.count : 1, total, last;
	struct sample *samples = calloc(room, sizeof(*samples));
	double *values = calloc(room, sizeof(*values));

	free(history->values);
	history->values = values;
	history->trends.count = 0;
	*count = 0;
	total = samples && values ? samples_of(history, key, samples) : 0;
	if (total)
		qsort(samples, total, sizeof(*samples), compare_samples);
	for (size_t first = 0; first < total; first = last) {
		struct osp_history_trend *trend = add_entry(&history->trends, sizeof(*trend));

		if (!trend)
			break;
		for (last = first; last < total && same_figure(&samples[first], &samples[last]);)
			last++;
		fill_trend(trend, samples + first, last - first, values + first);
	}
	free(samples);
	*count = history->trends.count;
	return history->trends.entries;
}

/* --- counters --------------------------------------------------------------------------------- */

/* Compares by time, then by subject and name, because qsort() does not keep the order of equals. */
static int compare_growths(const void *a, const void *b)
{
	const struct osp_history_growth *one = a, *other = b;
	int order = (other->time_s > one->time_s) - (other->time_s < one->time_s);

	if (!order)
		order = strcmp(one->subject, other->subject);
	return order ? order : strcmp(one->name, other->name);
}

const struct osp_history_growth *osp_history_growths(struct osp_history *history, const char *key,
						     size_t *count)
{
	const struct growth *growths = history->growths.entries;

	history->found.count = 0;
	*count = 0;
	for (uint32_t i = 0; i < history->growths.count; i++) {
		const struct osp_history_run *run = run_at(history, growths[i].run);
		struct osp_history_growth *found;

		if (strcmp(growths[i].grown.key, key) != 0)
			continue;
		found = add_entry(&history->found, sizeof(*found));
		if (!found)
			return NULL;
		*found = growths[i].grown;
		found->time_s = run->time_s;
		found->job = run->job;
		found->when = run->when;
	}
	*count = history->found.count;
	if (*count)
		qsort(history->found.entries, *count, sizeof(struct osp_history_growth),
		      compare_growths);
	return history->found.entries;
}
