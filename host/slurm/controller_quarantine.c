/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller_quarantine.c - the reservations of nodes in quarantine */
#include "onespine_config.h"
#include "host/slurm/controller_quarantine.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm_compat.h"
#include "host/slurm/controller_private.h"

#define OWNER "root"

static int make_reservation(struct osp_controller_question *question)
{
	static char owner[] = OWNER;
	resv_desc_msg_t reservation;
	char *name;
	bool created;

	slurm_init_resv_desc_msg(&reservation);
	reservation.name = question->words[0];
	reservation.node_list = question->words[1];
	reservation.users = owner;
	reservation.duration = INFINITE;
	reservation.flags = RESERVE_FLAG_IGN_JOBS;
	name = slurm_create_reservation(&reservation);
	created = name != NULL;
	OSP_RESERVATION_NAME_FREE(name);
	return created ? SLURM_SUCCESS : SLURM_ERROR;
}

/* Returns whether the node is in quarantine already: slurmctld looks for an overlap before it looks
 * at the name (create_resv() of its reservation.c, 22.05 to 26.05). */
static bool is_quarantined(const char *node, uint64_t until_ms)
{
	struct osp_quarantine_list list;
	bool found = false;

	if (osp_controller_quarantined(until_ms, &list) == 0)
		found = osp_quarantine_find(list.nodes, list.count, node) < list.count;
	osp_quarantine_list_free(&list);
	return found;
}

int osp_controller_quarantine(const char *node, const char *instance, uint64_t until_ms)
{
	char name[OSP_QUARANTINE_NAME_BYTES];
	struct osp_controller_question question = {
		.ask = make_reservation,
		.words = {(char *)osp_quarantine_name(node, instance, name), (char *)node}};
	int error = osp_controller_ask(&question, until_ms, NULL);

	if ((error == ESLURM_RESERVATION_OVERLAP || error == ESLURM_RESERVATION_NAME_DUP) &&
	    is_quarantined(node, until_ms))
		return 0;
	return error;
}

int osp_controller_unquarantine(const struct osp_quarantined *node, uint64_t until_ms)
{
	char name[OSP_QUARANTINE_NAME_BYTES];
	struct osp_controller_question question = {
		.ask = osp_drop_reservation,
		.words = {(char *)osp_quarantine_name(node->node, node->instance, name)}};
	int error = osp_controller_ask(&question, until_ms, NULL);

	return error == ESLURM_RESERVATION_INVALID ? 0 : error;
}

static bool is_quarantine(const reserve_info_t *record)
{
	return osp_quarantine_instance(record->name) && record->node_list &&
	       record->node_cnt == 1 && record->users && !strcmp(record->users, OWNER);
}

static int by_beginning(const void *one, const void *other)
{
	const struct osp_quarantined *a = one, *b = other;

	if (a->since_s != b->since_s)
		return a->since_s < b->since_s ? -1 : 1;
	return strcmp(a->node, b->node);
}

static int take(const reserve_info_msg_t *records, struct osp_quarantine_list *list)
{
	list->nodes = calloc((size_t)records->record_count + 1, sizeof(*list->nodes));
	for (uint32_t i = 0; list->nodes && i < records->record_count; i++) {
		const reserve_info_t *record = &records->reservation_array[i];
		struct osp_quarantined *node = &list->nodes[list->count];

		if (!is_quarantine(record))
			continue;
		node->node = strdup(record->node_list);
		node->instance = strdup(osp_quarantine_instance(record->name));
		node->since_s = (int64_t)record->start_time;
		list->count++;
		if (!node->node || !node->instance)
			return ENOMEM;
	}
	if (!list->nodes)
		return ENOMEM;
	qsort(list->nodes, list->count, sizeof(*list->nodes), by_beginning);
	return 0;
}

int osp_controller_quarantined(uint64_t until_ms, struct osp_quarantine_list *list)
{
	struct osp_controller_question question = {.ask = osp_load_reservations};
	reserve_info_msg_t *records;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);

	memset(list, 0, sizeof(*list));
	records = answer;
	if (error || !records)
		return error ? error : SLURM_ERROR;
	error = take(records, list);
	slurm_free_reservation_info_msg(records);
	return error;
}

void osp_quarantine_list_free(struct osp_quarantine_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->nodes[i].node);
		free((char *)list->nodes[i].instance);
	}
	free(list->nodes);
	memset(list, 0, sizeof(*list));
}
