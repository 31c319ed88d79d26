/* SPDX-License-Identifier: GPL-2.0-or-later */
/* licenses.h - whether the licenses of -L are free now. One thread. */
#ifndef OSP_LICENSES_H
#define OSP_LICENSES_H

#include <stdbool.h>

/*
 * Returns whether too few are free of the licenses that `words` name as --licenses does
 * (lib/policy/license_request.h). False for NULL, for words that cannot be read, and if slurmctld
 * does not answer: sbatch refuses those.
 */
bool osp_licenses_lacking(const char *words);

#endif
