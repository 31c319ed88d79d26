/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trust.h - whom a file must belong to before a daemon obeys it
 *
 * Any thread; looks at no file itself.
 */
#ifndef OSP_TRUST_H
#define OSP_TRUST_H

#include <sys/stat.h>

/*
 * Says, with the cure in brackets, why a file of this status may not be obeyed: it belongs neither
 * to root nor to `owner`, or others may write it (any user, or a group that is not root's). NULL:
 * it may be.
 */
const char *osp_distrust(const struct stat *status, uid_t owner);

#endif
