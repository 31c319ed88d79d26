/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_nodes.h - which nodes there are, where they are reached, and when each was heard
 *
 * Two threads may use it: it has a lock of its own.
 */
#ifndef OSP_KNOWN_NODES_H
#define OSP_KNOWN_NODES_H

#include <stdint.h>
#include <sys/socket.h>

#include "host/slurm/node_list.h"

#define OSP_KNOWN_PAUSE_MS 1000 /* between two reports of a node */

struct osp_known_nodes;

enum osp_known {
	OSP_KNOWN_HERE,	     /* it is that node */
	OSP_KNOWN_STRANGER,  /* there is no node of that name */
	OSP_KNOWN_ELSEWHERE, /* Slurm has other addresses for it, or they cannot be found out */
	OSP_KNOWN_SOON,	     /* it was HERE less than a second ago */
};

struct osp_known_nodes *osp_known_nodes_new(void);	  /* Returns NULL if memory ran out */
void osp_known_nodes_free(struct osp_known_nodes *known); /* NULL is allowed */

/* Replaces the nodes by those of `list`; if memory runs out they stay as they are. */
void osp_known_nodes_set(struct osp_known_nodes *known, const struct osp_node_list *list);

/* Judges who says to be `node` and comes from `from`. The address is looked up, which may take
 * long. HERE notes `now_ms`. */
enum osp_known osp_known_nodes_judge(struct osp_known_nodes *known, const char *node,
				     const struct sockaddr_storage *from, uint64_t now_ms);

#endif
