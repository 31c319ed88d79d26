/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen.h - hears what nodes say of themselves, and keeps it in FILE.reports
 *
 * A thread listens at a TCP port (report_wire.h). It takes a report if it comes from a reserved
 * port, is root's and for this user (host/seal/seal.h), repeats the connection's challenge, names a
 * node that Slurm has, and comes from an address that Slurm has for that node; and one a second of
 * a node. Everything else is counted and dropped. At most 64 connections are open, each for 5 s;
 * the oldest gives way. The file (lib/topology/report_book.h) is written at most once a second, and
 * then the process gets SIGUSR1 if a node says something else than before. It is read again at the
 * next start.
 *
 * The calls: one thread.
 */
#ifndef OSP_LISTEN_H
#define OSP_LISTEN_H

#include <stdint.h>

#include "host/slurm/node_list.h"
#include "lib/base/error.h"

struct osp_listen;

/* Starts to listen. Reports are sealed by the keys of `key_file`, which is read for each, or by
 * MUNGE if it is ""; `munge_socket` is "" for the default. Block SIGUSR1 before. Returns NULL with
 * `error` set. */
struct osp_listen *osp_listen_begin(uint16_t port, const char *path, const char *key_file,
				    const char *munge_socket, struct osp_error *error);

/* Says which nodes there are, and at which addresses. Until then none is. The list is copied. */
void osp_listen_know(struct osp_listen *listen, const struct osp_node_list *list);

/* Writes what is not written yet, and ends the thread. NULL is allowed. */
void osp_listen_end(struct osp_listen *listen);

#endif
