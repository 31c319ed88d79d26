/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_seal.h - reports (lib/topology/report.h) that only root of this cluster can have made, and
 * that only one user can open; and what the watch says to them
 *
 * By MUNGE. That a report is not one of another connection, sent again, is proven by its challenge.
 * One thread; MUNGE blocks.
 */
#ifndef OSP_REPORT_SEAL_H
#define OSP_REPORT_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

#define OSP_REPORT_LIFE_S 60 /* how long a sealed report is good; clocks may differ by so much */

/* Seals `report`, or a receipt, for the user `reader` alone. `socket` is MUNGE's, "" for its
 * default. Appends to `sealed`. Returns 0, or -1 with `error` set. */
int osp_report_seal(const char *socket, const struct osp_text *report, uid_t reader,
		    struct osp_text *sealed, struct osp_error *error);

/*
 * Opens what root or the user `maker` sealed for this process's user; `sealed` is terminated.
 * Returns it, malloc'd, with its length in *report_bytes; NULL: it was sealed by somebody else or
 * for somebody else, was opened before, was changed, or is too old.
 */
char *osp_report_open(const char *socket, const char *sealed, uid_t maker, size_t *report_bytes);

#endif
