/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * private_file.h - files that one user id keeps in a folder of its own
 *
 * They are root's if slurmstepd runs as root. A file counts only if it and its folder belong to the
 * caller's effective user id and nobody else may write them.
 */
#ifndef OSP_PRIVATE_FILE_H
#define OSP_PRIVATE_FILE_H

#include <stddef.h>

/* Opens the folder; makes it with `mode` if it is missing. Returns -1 with errno set if that fails;
 * EPERM if the folder belongs to another user or others may write to it. */
int osp_private_folder(const char *path, unsigned int mode);

/* Returns the whole file, terminated, which the caller frees, or NULL if there is none that can be
 * trusted. */
char *osp_private_read(const char *folder, const char *name, size_t *length_bytes);

/* Replaces the whole file or leaves it as it was; several processes may do so at once. Makes the
 * folder if it is missing. */
void osp_private_write(const char *folder, const char *name, const void *data, size_t data_bytes);

#endif
