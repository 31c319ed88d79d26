/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cloud_facts.h - what a cloud says about the instances that run Slurm's nodes
 *
 * host/source/cloud_facts.c gathers it by calls that only read, and doctor_cloud.c judges it.
 * Strings are the caller's; "" if EC2 does not say.
 */
#ifndef OSP_CLOUD_FACTS_H
#define OSP_CLOUD_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_CLOUD_NO_NODE UINT32_MAX

/* A running node. */
struct osp_cloud_node {
	const char *name;
	const char *instance_id; /* "": no running instance is known for it */
	const char *zone;
	const char *placement;	 /* group's name */
	const char *reservation; /* in which it runs */
	bool capacity_block;
};

/* An EFA interface; `groups` are ids of security groups. */
struct osp_cloud_interface {
	uint32_t node; /* index */
	const char **groups;
	size_t group_count;
};

/* A rule of a security group that allows all protocols and names a group. */
struct osp_cloud_open {
	const char *group;
	const char *peer;
	bool egress;
};

struct osp_cloud_reservation {
	const char *id;
	const char *state;
	const char *match; /* "open", "targeted" */
	uint32_t free_count;
};

struct osp_cloud_placement {
	const char *name;
	const char *strategy;
};

/* A Lustre file system that this host mounts; FSx's servers have interfaces in one zone. */
struct osp_cloud_storage {
	const char *mount;
	const char *zone; /* "": no interface of this account has the server's address */
};

/* A call that failed; nothing that depends on its answer is judged. */
struct osp_cloud_call {
	const char *action;
	const char *error;
	bool for_places; /* topology discover and watch need it too */
};

struct osp_cloud_facts {
	const struct osp_cloud_node *nodes;
	uint32_t node_count;
	const struct osp_cloud_interface *interfaces;
	size_t interface_count;
	const struct osp_cloud_open *opens;
	size_t open_count;
	const struct osp_cloud_reservation *reservations;
	size_t reservation_count;
	const struct osp_cloud_placement *placements;
	size_t placement_count;
	const struct osp_cloud_storage *storages;
	size_t storage_count;
	const struct osp_cloud_call *calls;
	size_t call_count;
	const char *meant; /* the intended reservations, separated by commas; NULL: not given */
	bool instances_known, interfaces_known, opens_known; /* EC2 answered */
};

#endif
