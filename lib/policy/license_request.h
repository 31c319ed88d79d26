/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * license_request.h - whether the licenses that --licenses names are free
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_LICENSE_REQUEST_H
#define OSP_LICENSE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many are free of the license of that name, UINT64_MAX of one that is not known. */
typedef uint64_t osp_licenses_free_f(const char *name, size_t name_bytes, void *context);

/*
 * Returns whether too few are free of the licenses that `words` name as --licenses does:
 * "matlab:2,ansys@server" (all of them), "matlab=2|ansys" (one of them). A license that is named
 * twice is counted twice. False for words that cannot be read: sbatch refuses those.
 */
bool osp_license_request_lacks(const char *words, osp_licenses_free_f *free_of, void *context);

#endif
