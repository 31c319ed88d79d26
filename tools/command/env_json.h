/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_json.h - what lib/env/env_print.h says in words, as JSON
 *
 * One thread.
 */
#ifndef OSP_ENV_JSON_H
#define OSP_ENV_JSON_H

#include <jansson.h>

#include "lib/env/env_print.h"

json_t *osp_env_json_view(const struct osp_env_view *view);
json_t *osp_env_json_decisions(const struct osp_decisions *decisions);
json_t *osp_env_json_findings(const char *file, const struct osp_findings *findings);

#endif
