/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trust.h - who must own a file before a daemon obeys it
 *
 * Any thread; opens no file itself.
 */
#ifndef OSP_TRUST_H
#define OSP_TRUST_H

#include <sys/stat.h>

/*
 * Returns why a file of this status may not be obeyed, with the cure in brackets: it belongs
 * neither to root nor to `owner`, or others may write it (any user, or a group that is not root's).
 * Returns NULL if it may be obeyed.
 */
const char *osp_distrust(const struct stat *status, uid_t owner);

#endif
