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
#define OSP_NAMES_MAX  512 /* entries of one folder that are looked at */

/* "ROOT/PATH"; false when it does not fit. */
bool osp_root_path(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The start of a file, terminated, trailing blanks cut. false with errno when it cannot be read. */
bool osp_root_read(const char *root, char *buffer, size_t buffer_bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A number, decimal or with 0x, that stands first in a file. */
bool osp_root_number(const char *root, uint64_t *number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool osp_root_exists(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The last word of where a link points to: the driver of "sys/bus/pci/devices/X/driver". */
bool osp_root_link_name(const char *root, char *buffer, size_t buffer_bytes, const char *format,
			...) __attribute__((format(printf, 4, 5)));

/* Names in a folder, sorted; at most OSP_NAMES_MAX. */
struct osp_names {
	char (*names)[64];
	size_t count;
};
/* false with errno when the folder cannot be read; a name longer than 63 is left out. */
bool osp_root_list(const char *root, struct osp_names *names, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void osp_names_free(struct osp_names *names);

#endif
