/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept.h - files that one user id keeps for itself in a folder of its own
 *
 * Root's, when slurmstepd runs as root. A file counts only if it and its folder belong to the
 * caller's effective user id and nobody else may write them.
 */
#ifndef OSP_KEPT_H
#define OSP_KEPT_H

#include <stddef.h>

/* Opens the folder; makes it with `mode` if it is missing. -1 with errno set; EPERM where another
 * than the caller's effective user id could write there. */
int osp_kept_folder(const char *path, unsigned int mode);

/* The whole file, terminated, to be freed; NULL if there is none that can be trusted. */
char *osp_kept_read(const char *folder, const char *name, size_t *length_bytes);

/* Replaces it whole or leaves it; several processes may do so at once. The folder is made if it is
 * missing. */
void osp_kept_write(const char *folder, const char *name, const void *data, size_t data_bytes);

#endif
