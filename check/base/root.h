/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.h - reading sysfs, proc and dev below a root folder
 *
 * Paths are given without the leading '/'. Files there are small; longer ones are cut, and that is
 * enough for what is read here. One thread.
 */
#ifndef OSP_ROOT_H
#define OSP_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_PATH_BYTES 512
#define OSP_NAMES_MAX  512 /* the most entries of one folder that are read */

/* Writes "ROOT/PATH". Returns false if it does not fit. */
bool osp_root_path(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads the start of a file, terminated, without blanks at its end. Returns false with errno if it
 * cannot be read. */
bool osp_root_read(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads a number, decimal or with 0x, at the start of a file. */
bool osp_root_number(const char *root, uint64_t *number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool osp_root_exists(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reads the last word of a link's target: the driver of "sys/bus/pci/devices/X/driver". */
bool osp_root_link_name(const char *root, char *buffer, size_t buffer_bytes, const char *format,
			...) __attribute__((format(printf, 4, 5)));

/* Names in a folder, sorted; at most OSP_NAMES_MAX. */
struct osp_names {
	char (*names)[64];
	size_t count;
};
/* Lists a folder. Returns false with errno if it cannot be read. Omits a name longer than 63. */
bool osp_root_list(const char *root, struct osp_names *names, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void osp_names_free(struct osp_names *names);

/*
 * Returns the path that was not read since osp_root_short_forget() because this process or the
 * machine had no file or memory left (EMFILE, ENFILE, ENOMEM, in *error), the first of several;
 * NULL: there is none. Whether such a path exists is not known. The text lives until the next call
 * of a function here.
 */
const char *osp_root_short(int *error);
void osp_root_short_forget(void);

#endif
