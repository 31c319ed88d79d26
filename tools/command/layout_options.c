/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_options.c - reads the options about layouts that several commands have */
#include "tools/command/layout_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int osp_option_error(const char *option, const struct osp_error *inner, struct osp_error *error)
{
	if (inner->column)
		return osp_error_set(error, "--%s, column %d: %s", option, inner->column,
				     inner->text);
	return osp_error_set(error, "--%s: %s", option, inner->text);
}

int osp_call_count(const struct osp_call *call, enum osp_option_id option, unsigned long most,
		   uint32_t *count, struct osp_error *error)
{
	const char *value = call->values[option];
	unsigned long number;
	char *end;

	if (!value)
		return 0;
	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || !number || number > most)
		return osp_error_set(error, "--%s=%.40s: a whole number from 1 to %lu",
				     osp_option(option)->name, value, most);
	*count = (uint32_t)number;
	return 0;
}

int osp_call_layout(const struct osp_call *call, struct osp_layout *layout, struct osp_error *error)
{
	const char *text = call->values[OSP_OPTION_LAYOUT];
	struct osp_error inner = {.text = ""};

	if (text && osp_layout_parse(text, layout, &inner))
		return osp_option_error("layout", &inner, error);
	return 0;
}

int osp_call_dp_weight(const struct osp_call *call, double *weight, struct osp_error *error)
{
	const char *value = call->values[OSP_OPTION_DP_WEIGHT];
	char *end;

	*weight = OSP_DP_WEIGHT_STANDARD;
	if (!value)
		return 0;
	*weight = strtod(value, &end);
	if (*end || end == value || strspn(value, "0123456789.") != strlen(value) || *weight > 1)
		return osp_error_set(
			error,
			"--dp-weight=%.40s: a number from 0 (only pipelines count) to 1 "
			"(only gradients do)",
			value);
	return 0;
}

int osp_call_keeps(const struct osp_call *call, const struct osp_topology *topology,
		   struct osp_keeps *keeps, struct osp_error *error)
{
	const char *text = call->values[OSP_OPTION_KEEP];
	struct osp_error inner = {.text = ""};

	if (!text)
		return 0;
	if (!topology)
		return osp_error_set(error,
				     "--keep needs --topology or --job, whose levels it names");
	if (osp_keeps_parse(text, topology, keeps, &inner))
		return osp_option_error("keep", &inner, error);
	return 0;
}
