/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mode.c - the names of a policy's modes, apart from config.c: onespine.so tells a mode without
 * reading YAML
 */
#include "lib/config_data.h"

const char *const osp_mode_names[OSP_MODE_COUNT] = {
	[OSP_MODE_OFF] = "off",
	[OSP_MODE_ADVISE] = "advise",
	[OSP_MODE_ENFORCE] = "enforce",
};

const char *osp_mode_name(enum osp_mode mode)
{
	return osp_mode_names[mode];
}
