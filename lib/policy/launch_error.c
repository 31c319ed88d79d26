/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch_error.c - why the cloud has launched no instance for a node */
#include "lib/policy/launch_error.h"

#include <ctype.h>
#include <string.h>

#define BEFORE "(Code:"

struct kind {
	const char *name;
	const char *before; /* the nodes */
	const char *behind;
	const char *cure; /* behind the code */
};

static const struct kind capacity = {"capacity", "the cloud has no capacity for ", " now",
				     "; ParallelCluster tries again later"};
static const struct kind reservation = {"reservation",
					"the capacity reservation has no free instance for ", "",
					"; ParallelCluster tries again later"};
static const struct kind quota = {"quota", "the account's quota leaves no instance for ", "",
				  "; AWS raises it in Service Quotas"};
static const struct kind price = {"price", "the price offered for spot instances is too low for ",
				  "", "; SpotPrice of the compute resource limits it"};
static const struct kind unsupported = {"unsupported", "EC2 does not offer the instances of ",
					" as they are configured",
					"; another zone or instance type may do"};
static const struct kind permission = {
	"permission", "the head node may not launch ", "",
	"; its role lacks a permission, which clustermgtd's log names"};
static const struct kind other = {"other", "EC2 has not launched ", "",
				  "; clustermgtd's log has its message"};

/* AWS's "Error codes for the Amazon EC2 API", and ParallelCluster's own LimitedInstanceCapacity:
 * other nodes of the same call were launched. */
static const struct {
	const char *code;
	const struct kind *kind;
} codes[] = {
	{"InsufficientInstanceCapacity", &capacity},
	{"InsufficientHostCapacity", &capacity},
	{"InsufficientCapacity", &capacity},
	{"InsufficientCapacityOnHost", &capacity},
	{"UnfulfillableCapacity", &capacity},
	{"LimitedInstanceCapacity", &capacity},
	{"InsufficientReservedInstanceCapacity", &reservation},
	{"ReservationCapacityExceeded", &reservation},
	{"MaxSpotInstanceCountExceeded", &quota},
	{"VcpuLimitExceeded", &quota},
	{"InstanceLimitExceeded", &quota},
	{"HostLimitExceeded", &quota},
	{"VolumeLimitExceeded", &quota},
	{"SpotMaxPriceTooLow", &price},
	{"Unsupported", &unsupported},
	{"UnsupportedOperation", &unsupported},
	{"UnauthorizedOperation", &permission},
	{"AccessDeniedException", &permission},
};

static const struct kind *find(const char *code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (!strcmp(code, codes[i].code))
			return codes[i].kind;
	}
	return &other;
}

bool osp_launch_error_code(const char *reason, char *code, size_t bytes)
{
	size_t length = 0;

	if (!reason || strncmp(reason, BEFORE, strlen(BEFORE)) != 0)
		return false;
	reason += strlen(BEFORE);
	while (isalnum((unsigned char)reason[length]) || reason[length] == '.')
		length++;
	if (!length || length >= bytes || reason[length] != ')')
		return false;
	memcpy(code, reason, length);
	code[length] = '\0';
	return true;
}

const char *osp_launch_error_kind(const char *code)
{
	return find(code)->name;
}

void osp_launch_error_text(const char *code, const char *nodes, struct osp_text *text)
{
	const struct kind *kind = find(code);

	osp_text_printf(text, "%s%s%s (%s)%s", kind->before, nodes, kind->behind, code, kind->cure);
}
