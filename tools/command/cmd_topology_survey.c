/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topology_survey.c - `onespine topology survey`: which gangs a capacity reservation can hold
 * on one spine */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OSP_HAVE_CLOUD

#include "host/cloud/ec2.h"
#include "host/output.h"
#include "lib/cloud/block_end.h"

#define RESERVATIONS_MAX 100
#define LAYERS_OF_MOST	 3 /* for every type except those below */
#define SIZES_MAX	 32

/* One reservation, from the answers to both questions. */
struct reservation {
	char id[OSP_EC2_VALUE_BYTES];
	char type[OSP_EC2_VALUE_BYTES];
	char state[OSP_EC2_VALUE_BYTES];
	char spine[OSP_EC2_VALUE_BYTES]; /* "" if it is unknown: the list of network nodes ends
					    above it */
	long total;
	long free;		  /* of these, those that no instance uses; before it begins, all */
	int64_t starts_s, ends_s; /* of a Capacity Block; 0: it has no end */
	bool reported;
};

struct survey {
	struct reservation reservations[RESERVATIONS_MAX];
	const char *ids[RESERVATIONS_MAX];
	size_t count;
};

static struct reservation *find(struct survey *survey, const char *id)
{
	for (size_t i = 0; i < survey->count; i++) {
		if (!strcmp(survey->ids[i], id))
			return &survey->reservations[i];
	}
	return NULL;
}

static size_t layers_of(const char *type)
{
	return !strncmp(type, "p6-b200", 7) || !strncmp(type, "p6-b300", 7) ? LAYERS_OF_MOST + 1
									    : LAYERS_OF_MOST;
}

/* Notes a reservation's spine. The lists are counted from the top; the spine is the layer above the
 * lowest. */
static int note_place(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct reservation *reservation = find(context, record->id);
	size_t spine = layers_of(record->type) - 2;

	(void)error;
	if (reservation && spine < record->node_count)
		snprintf(reservation->spine, sizeof(reservation->spine), "%s",
			 record->nodes[spine]);
	return 0;
}

static int note_size(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct reservation *reservation = find(context, record->id);
	int64_t total = osp_ec2_count(record->total_count),
		unused = osp_ec2_free(record, (int64_t)time(NULL));

	(void)error;
	if (!reservation)
		return 0;
	reservation->reported = true;
	reservation->total = total > 0 ? (long)total : 0;
	reservation->free = unused > 0 ? (long)unused : 0;
	snprintf(reservation->type, sizeof(reservation->type), "%s", record->type);
	snprintf(reservation->state, sizeof(reservation->state), "%s", record->state);
	reservation->starts_s = osp_ec2_time(record->starts);
	reservation->ends_s = osp_ec2_time(record->ends);
	return 0;
}

static int take_ids(struct survey *survey, const char *list, struct osp_error *error)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		struct reservation *reservation = &survey->reservations[survey->count];

		if (survey->count == RESERVATIONS_MAX || !length ||
		    length >= sizeof(reservation->id))
			return osp_error_set(error,
					     "--reservation: 1 to %d ids, separated by commas, are "
					     "expected, as cr-0123",
					     RESERVATIONS_MAX);
		memcpy(reservation->id, list, length);
		survey->ids[survey->count++] = reservation->id;
		list += length + (list[length] == ',');
	}
	return 0;
}

static int ask(struct survey *survey, struct osp_ec2_gaps *gaps, struct osp_error *error)
{
	struct osp_ec2 *ec2 = osp_ec2_open(error);
	struct osp_ec2_listener sizes = {note_size, NULL, survey};
	struct osp_ec2_listener places = {note_place, NULL, survey};
	int rc = -1;

	if (ec2 && !osp_ec2_reservations(ec2, survey->ids, survey->count, &sizes, gaps, error))
		rc = osp_ec2_reservation_topology(ec2, survey->ids, survey->count, &places, gaps,
						  error);
	osp_ec2_close(ec2);
	if (!rc && gaps->failed_calls) {
		*error = gaps->first;
		return -1;
	}
	return rc;
}

/* Counts the free instances that are known to be under the spine of reservation `index`; 0 if
 * another reservation of that spine comes before it. */
static long on_spine(const struct survey *survey, size_t index)
{
	const char *spine = survey->reservations[index].spine;
	long sum = 0;

	if (!*spine)
		return 0;
	for (size_t i = 0; i < survey->count; i++) {
		if (strcmp(survey->reservations[i].spine, spine) != 0)
			continue;
		if (i < index)
			return 0;
		sum += survey->reservations[i].free;
	}
	return sum;
}

static long gangs_of(const struct survey *survey, long size)
{
	long gangs = 0;

	for (size_t i = 0; i < survey->count; i++)
		gangs += on_spine(survey, i) / size;
	return gangs;
}

static long largest(const struct survey *survey)
{
	long most = 0;

	for (size_t i = 0; i < survey->count; i++) {
		if (on_spine(survey, i) > most)
			most = on_spine(survey, i);
	}
	return most;
}

static void print_reservation(const struct reservation *r, struct osp_text *text)
{
	char from[32], until[32];

	osp_text_printf(text, "%s: %ld of %s, ", r->id, r->total, r->type);
	if (r->free < r->total)
		osp_text_printf(text, "%ld of them free, ", r->free);
	osp_text_printf(text, "%s, %s%s", r->state, r->spine[0] ? "on spine " : "on no known spine",
			r->spine);
	if (r->ends_s && r->starts_s)
		osp_text_printf(text, ", from %s",
				osp_format_time(r->starts_s, from, sizeof(from)));
	if (r->ends_s)
		osp_text_printf(text, ", jobs until %s",
				osp_format_time(osp_block_end_jobs_s(r->ends_s, r->type), until,
						sizeof(until)));
	osp_text_add(text, "\n");
}

static int print_words(const struct survey *survey)
{
	struct osp_text text = OSP_TEXT_INIT;
	long most = largest(survey);

	for (size_t i = 0; i < survey->count; i++) {
		const struct reservation *r = &survey->reservations[i];

		if (!r->reported)
			osp_text_printf(&text, "%s: EC2 does not know it\n", r->id);
		else
			print_reservation(r, &text);
	}
	osp_text_printf(&text, "the largest gang on one spine: %ld nodes\n", most);
	for (long size = 1; size <= most; size *= 2)
		osp_text_printf(&text, "gangs of %ld: %ld\n", size, gangs_of(survey, size));
	return osp_print_text(&text, most ? OSP_EXIT_YES : OSP_EXIT_NO);
}

static int print_json(const struct survey *survey)
{
	json_t *root = json_object(), *reservations = json_array(), *gangs = json_object();
	long most = largest(survey);

	for (size_t i = 0; i < survey->count; i++) {
		const struct reservation *r = &survey->reservations[i];
		json_t *object = json_object();

		json_object_set_new(object, "id", osp_json_string(r->id));
		json_object_set_new(object, "known", json_boolean(r->reported));
		json_object_set_new(object, "type", osp_json_string(r->type));
		json_object_set_new(object, "state", osp_json_string(r->state));
		json_object_set_new(object, "spine",
				    osp_json_string(r->spine[0] ? r->spine : NULL));
		json_object_set_new(object, "instances", json_integer(r->total));
		json_object_set_new(object, "free", json_integer(r->free));
		if (r->ends_s) {
			json_object_set_new(object, "starts",
					    r->starts_s ? osp_json_time(r->starts_s) : json_null());
			json_object_set_new(
				object, "jobs_until",
				osp_json_time(osp_block_end_jobs_s(r->ends_s, r->type)));
			json_object_set_new(object, "ends", osp_json_time(r->ends_s));
		}
		json_array_append_new(reservations, object);
	}
	for (long size = 1; size <= most; size *= 2) {
		char name[24];

		snprintf(name, sizeof(name), "%ld", size);
		json_object_set_new(gangs, name, json_integer(gangs_of(survey, size)));
	}
	json_object_set_new(root, "reservations", reservations);
	json_object_set_new(root, "largest", json_integer(most));
	json_object_set_new(root, "gangs", gangs);
	return osp_print_json(root, most ? OSP_EXIT_YES : OSP_EXIT_NO);
}

int osp_run_topology_survey(const struct osp_call *call)
{
	const char *ids = call->values[OSP_OPTION_RESERVATION];
	struct survey *survey = calloc(1, sizeof(*survey));
	struct osp_error error = {.text = ""};
	struct osp_ec2_gaps gaps = {0};
	int status;

	if (!survey)
		return osp_say_no_memory();
	if (!ids)
		osp_error_set(&error, "--reservation is needed, as cr-0123");
	if (!ids || take_ids(survey, ids, &error) || ask(survey, &gaps, &error))
		status = osp_say_error(&error);
	else
		status = (call->values[OSP_OPTION_JSON] ? print_json : print_words)(survey);
	free(survey);
	return status;
}

#else

int osp_run_topology_survey(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};

	(void)call;
	osp_error_set(&error, "this build was configured without curl and expat");
	return osp_say_error(&error);
}

#endif
