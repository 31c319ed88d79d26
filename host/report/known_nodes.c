/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_nodes.c - which nodes there are, where they are reached, and when each was heard */
#include "onespine_config.h"
#include "host/report/known_nodes.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name_table.h"

struct table {
	struct osp_arena arena;
	struct osp_name_table by_name;
	const char **addresses; /* by node */
	uint64_t *heard_ms;	/* by node; 0: never */
	uint32_t count;
};

struct osp_known_nodes {
	pthread_mutex_t lock;
	struct table table;
};

struct osp_known_nodes *osp_known_nodes_new(void)
{
	struct osp_known_nodes *known = calloc(1, sizeof(*known));

	if (known)
		pthread_mutex_init(&known->lock, NULL);
	return known;
}

static void table_free(struct table *table)
{
	osp_name_table_free(&table->by_name);
	osp_arena_free(&table->arena);
	free(table->addresses);
	free(table->heard_ms);
	memset(table, 0, sizeof(*table));
}

void osp_known_nodes_free(struct osp_known_nodes *known)
{
	if (!known)
		return;
	table_free(&known->table);
	pthread_mutex_destroy(&known->lock);
	free(known);
}

/* --- the nodes -------------------------------------------------------------------------------- */

static int add_node(struct table *table, const struct osp_listed_node *node,
		    const struct table *before)
{
	uint32_t old = osp_name_table_find(&before->by_name, 0, node->name);
	const char *address = *node->address ? node->address : node->name;
	const char *name = osp_arena_copy(&table->arena, node->name, strlen(node->name));

	table->addresses[table->count] = osp_arena_copy(&table->arena, address, strlen(address));
	table->heard_ms[table->count] = old == OSP_NAME_ABSENT ? 0 : before->heard_ms[old];
	if (!name || !table->addresses[table->count])
		return -1;
	return osp_name_table_add(&table->by_name, 0, name, table->count++);
}

void osp_known_nodes_set(struct osp_known_nodes *known, const struct osp_node_list *list)
{
	struct table table = {.count = 0}, rest;
	int rc;

	pthread_mutex_lock(&known->lock);
	table.addresses = calloc((size_t)list->count + 1, sizeof(*table.addresses));
	table.heard_ms = calloc((size_t)list->count + 1, sizeof(*table.heard_ms));
	rc = table.addresses && table.heard_ms ? 0 : -1;
	for (uint32_t i = 0; i < list->count && !rc; i++)
		rc = add_node(&table, &list->nodes[i], &known->table);
	rest = rc ? table : known->table;
	if (!rc)
		known->table = table;
	pthread_mutex_unlock(&known->lock);
	table_free(&rest);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* Writes the address without its port, in IPv6's form. Returns false for another family. */
static bool bytes_of(const struct sockaddr *address, uint8_t bytes[16])
{
	if (address->sa_family == AF_INET6) {
		memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
		return true;
	}
	memset(bytes, 0, 10);
	memset(bytes + 10, 0xff, 2);
	memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
	return address->sa_family == AF_INET;
}

static bool is_address_of(const char *name, const struct sockaddr_storage *from)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	uint8_t here[16], there[16];
	bool is = false;

	if (!bytes_of((const struct sockaddr *)from, here) ||
	    getaddrinfo(name, NULL, &hints, &found))
		return false;
	for (const struct addrinfo *at = found; at && !is; at = at->ai_next)
		is = bytes_of(at->ai_addr, there) && !memcmp(here, there, sizeof(here));
	freeaddrinfo(found);
	return is;
}

/* Copies the node's address. */
static enum osp_known find(struct osp_known_nodes *known, const char *node, uint64_t now_ms,
			   char *address, size_t address_bytes)
{
	enum osp_known kind = OSP_KNOWN_STRANGER;
	uint32_t index;

	pthread_mutex_lock(&known->lock);
	index = osp_name_table_find(&known->table.by_name, 0, node);
	if (index != OSP_NAME_ABSENT) {
		uint64_t heard_ms = known->table.heard_ms[index];

		snprintf(address, address_bytes, "%s", known->table.addresses[index]);
		kind = heard_ms && now_ms - heard_ms < OSP_KNOWN_PAUSE_MS ? OSP_KNOWN_SOON
									  : OSP_KNOWN_HERE;
	}
	pthread_mutex_unlock(&known->lock);
	return kind;
}

static void note_heard(struct osp_known_nodes *known, const char *node, uint64_t now_ms)
{
	uint32_t index;

	pthread_mutex_lock(&known->lock);
	index = osp_name_table_find(&known->table.by_name, 0, node);
	if (index != OSP_NAME_ABSENT)
		known->table.heard_ms[index] = now_ms;
	pthread_mutex_unlock(&known->lock);
}

enum osp_known osp_known_nodes_judge(struct osp_known_nodes *known, const char *node,
				     const struct sockaddr_storage *from, uint64_t now_ms)
{
	char address[256];
	enum osp_known kind = find(known, node, now_ms, address, sizeof(address));

	if (kind == OSP_KNOWN_STRANGER)
		return kind;
	/* Another that says to be the node must not keep the node's own report away. */
	if (!is_address_of(address, from))
		return OSP_KNOWN_ELSEWHERE;
	if (kind == OSP_KNOWN_HERE)
		note_heard(known, node, now_ms);
	return kind;
}
