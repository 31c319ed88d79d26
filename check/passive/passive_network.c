/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_network.c - EFA devices and InfiniBand or RoCE ports, from sysfs */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/container.h"
#include "check/base/counters.h"
#include "check/base/gpus.h"
#include "check/base/root.h"

#define PCI_VENDOR_AMAZON 0x1d0f
#define PCI_EFA_FIRST	  0xefa0
#define PCI_EFA_LAST	  0xefaf

/* --- EFA -------------------------------------------------------------------------------------- */

struct efa_count {
	size_t on_bus;
	size_t working;
};

/* Looks at a device. An EFA device works if the efa driver has it and made an RDMA device of it. */
static void look_at_efa(struct osp_check_context *context, const char *address,
			struct efa_count *count)
{
	uint64_t vendor = 0, device = 0;
	struct osp_names rdma;
	char driver[64];

	if (!osp_root_number(context->root, &vendor, "sys/bus/pci/devices/%s/vendor", address) ||
	    !osp_root_number(context->root, &device, "sys/bus/pci/devices/%s/device", address) ||
	    vendor != PCI_VENDOR_AMAZON || device < PCI_EFA_FIRST || device > PCI_EFA_LAST)
		return;
	count->on_bus++;
	if (osp_pci_is_given_away(context, address)) {
		count->working++;
		return;
	}
	if (!osp_root_link_name(context->root, driver, sizeof(driver),
				"sys/bus/pci/devices/%s/driver", address) ||
	    strcmp(driver, "efa") != 0) {
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, address, "no driver",
			       NULL, NULL, "the EFA device at %s has no driver", address);
		return;
	}
	if (osp_root_list(context->root, &rdma, "sys/bus/pci/devices/%s/infiniband", address) &&
	    rdma.count)
		count->working++;
	else if (osp_in_container(context->root))
		osp_result_error(context, address, "no RDMA device is seen in this container");
	else
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, address,
			       "no RDMA device", NULL, NULL,
			       "the EFA device at %s has no RDMA device", address);
	osp_names_free(&rdma);
}

#define MISSING_MEANT 3

/* Returns whether the node may have been started so: none, or a half, a quarter and so on of what
 * its type can have, as launch templates give p5.48xlarge 16, 8 or 4 of 32. One or two that are
 * missing are broken. */
static bool may_be_meant(size_t on_bus, int64_t can_have)
{
	int64_t count = (int64_t)on_bus;

	return !count || (can_have % count == 0 && can_have - count >= MISSING_MEANT);
}

static void judge_efa_count(struct osp_check_context *context, const struct efa_count *count)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_EFA_DEVICES, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	bool meant;

	if (expected && (int64_t)count->on_bus < expected->value) {
		snprintf(value, sizeof(value), "%zu", count->on_bus);
		snprintf(limit, sizeof(limit), "< %lld", (long long)expected->value);
		meant = !expected->of_site && may_be_meant(count->on_bus, expected->value);
		osp_result_add(context, meant ? OSP_VERDICT_WARN : OSP_VERDICT_FAIL,
			       meant ? OSP_CURE_ASK : OSP_CURE_REPLACE, "", value, limit,
			       expected->source, "EFA devices on the PCI bus; %s can have %lld",
			       context->node, (long long)expected->value);
	} else if (!count->on_bus) {
		osp_result_skip(context, "no EFA device on the PCI bus");
	} else if (count->working == count->on_bus) {
		osp_result_pass(context, "%zu", count->working);
	}
}

static void run_efa(struct osp_check_context *context)
{
	struct efa_count count = {0, 0};
	struct osp_names devices;

	if (!osp_root_list(context->root, &devices, "sys/bus/pci/devices")) {
		osp_result_skip(context, "no PCI bus");
		return;
	}
	for (size_t i = 0; i < devices.count; i++)
		look_at_efa(context, devices.names[i], &count);
	osp_names_free(&devices);
	judge_efa_count(context, &count);
}

const struct osp_check osp_check_efa = {
	.name = "efa",
	.group = OSP_GROUP_NETWORK,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 2000,
	.measures = "each EFA device has its driver, and as many are there as the machine has",
	.explains = "Counts Amazon's EFA devices on the PCI bus by their driver; "
		    "/sys/class/infiniband lists others too. Fewer than the instance type has "
		    "fails; none at all, or a half, a quarter and so on, warns: an instance may "
		    "be started so. Fewer than the site's own limit says fail. One that is given "
		    "to a virtual machine (vfio-pci) is well.",
	.cures = "Reboot; when devices stay away, replace the node. Set efa_devices where fewer "
		 "are meant.",
	.run = run_efa,
};

/* --- InfiniBand ------------------------------------------------------------------------------- */

#define PORTS_MAX 64

struct port {
	char name[OSP_SUBJECT_BYTES]; /* "mlx5_0:1" */
	char layer[24];		      /* "InfiniBand", "Ethernet" */
	char state[24];		      /* "ACTIVE" */
	char physical[24];	      /* "LinkUp" */
	unsigned int rate_gbps;
	bool counts; /* how often its link went down */
	uint64_t downs;
};

struct ports {
	struct port ports[PORTS_MAX];
	size_t count;
};

/* Reads a state: "4: ACTIVE" gives "ACTIVE". */
static void read_word(const struct osp_check_context *context, char *word, size_t word_bytes,
		      const char *device, const char *port, const char *file)
{
	char text[64], *colon;

	if (!osp_root_read(context->root, text, sizeof(text), "sys/class/infiniband/%s/ports/%s/%s",
			   device, port, file))
		snprintf(text, sizeof(text), "unknown");
	colon = strstr(text, ": ");
	snprintf(word, word_bytes, "%.*s", (int)word_bytes - 1, colon ? colon + 2 : text);
}

static void read_ports(const struct osp_check_context *context, const char *device,
		       struct ports *ports)
{
	struct osp_names numbers;
	char rate[64], driver[64];

	if (osp_root_link_name(context->root, driver, sizeof(driver),
			       "sys/class/infiniband/%s/device/driver", device) &&
	    strcmp(driver, "efa") == 0)
		return;
	if (!osp_root_list(context->root, &numbers, "sys/class/infiniband/%s/ports", device))
		return;
	for (size_t i = 0; i < numbers.count && ports->count < PORTS_MAX; i++) {
		struct port *port = &ports->ports[ports->count++];

		snprintf(port->name, sizeof(port->name), "%.40s:%.10s", device, numbers.names[i]);
		read_word(context, port->layer, sizeof(port->layer), device, numbers.names[i],
			  "link_layer");
		read_word(context, port->state, sizeof(port->state), device, numbers.names[i],
			  "state");
		read_word(context, port->physical, sizeof(port->physical), device, numbers.names[i],
			  "phys_state");
		if (!osp_root_read(context->root, rate, sizeof(rate),
				   "sys/class/infiniband/%s/ports/%s/rate", device,
				   numbers.names[i]) ||
		    sscanf(rate, "%u", &port->rate_gbps) != 1)
			port->rate_gbps = 0;
		port->counts = osp_port_counter(context->root, device, numbers.names[i],
						"link_downed", &port->downs);
	}
	osp_names_free(&numbers);
}

/* Judges a port. If it is not active, it has a cable and light but carries nothing, or looks for
 * the other end. */
static bool judge_port(struct osp_check_context *context, const struct port *port)
{
	if (strcmp(port->state, "ACTIVE") == 0 || strcmp(port->physical, "Disabled") == 0 ||
	    strcmp(port->physical, "Sleep") == 0)
		return false;
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, port->name, port->state, NULL, NULL,
		       "port %s is %s, physically %s", port->name, port->state, port->physical);
	return true;
}

static bool judge_rate(struct osp_check_context *context, const struct port *port,
		       const struct ports *ports)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_IB_RATE_GBPS, NULL);
	unsigned int need = expected ? (unsigned int)expected->value : 0;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	for (size_t i = 0; !expected && i < ports->count; i++)
		if (strcmp(ports->ports[i].layer, port->layer) == 0 &&
		    strcmp(ports->ports[i].state, "ACTIVE") == 0 &&
		    ports->ports[i].rate_gbps > need)
			need = ports->ports[i].rate_gbps;
	if (strcmp(port->state, "ACTIVE") != 0 || port->rate_gbps >= need ||
	    (expected && strcmp(port->layer, "InfiniBand") != 0))
		return false;
	snprintf(value, sizeof(value), "%u Gb/s", port->rate_gbps);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_result_add(context, expected ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_ASK,
		       port->name, value, limit,
		       expected ? expected->source : "the other ports of this node",
		       "port %s runs at %u Gb/s", port->name, port->rate_gbps);
	return true;
}

/* Judges flaps. One since the last pass warns; too many in a day fail. */
static bool judge_flaps(struct osp_check_context *context, const struct port *port)
{
	const struct osp_limit *most = osp_check_limit(context, OSP_LIMIT_IB_FLAPS, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	uint64_t since_pass, since_day;
	bool many;

	if (!port->counts)
		return false;
	osp_result_figure(context, port->name, "link_downed", (double)port->downs);
	if (!context->since || !osp_counter_growth(context->since, port->name, "link_downed",
						   port->downs, &since_pass, &since_day))
		return false;
	many = most && since_day >= (uint64_t)most->value;
	if (!since_pass && !many)
		return false;
	snprintf(value, sizeof(value), "%llu flaps",
		 (unsigned long long)(many ? since_day : since_pass));
	snprintf(limit, sizeof(limit), ">= %lld", many ? (long long)most->value : 1);
	osp_result_add(context, many ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_ASK,
		       port->name, value, limit,
		       many ? most->source : "onespine: a link that goes down ends jobs",
		       "the link of port %s went down %s", port->name,
		       many ? "within a day" : "since the last pass");
	return true;
}

static void judge_ports(struct osp_check_context *context, const struct ports *ports)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_IB_PORTS, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	size_t active = 0;
	bool ill = false;

	for (size_t i = 0; i < ports->count; i++)
		active += strcmp(ports->ports[i].state, "ACTIVE") == 0;
	if (expected && (int64_t)active < expected->value) {
		snprintf(value, sizeof(value), "%zu active", active);
		snprintf(limit, sizeof(limit), "< %lld", (long long)expected->value);
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, "", value, limit,
			       expected->source, "%zu of %zu ports are active", active,
			       ports->count);
		ill = true;
	}
	for (size_t i = 0; i < ports->count; i++) {
		ill |= judge_port(context, &ports->ports[i]);
		ill |= judge_rate(context, &ports->ports[i], ports);
		ill |= judge_flaps(context, &ports->ports[i]);
	}
	if (!ports->count && !ill)
		osp_result_skip(context, "no InfiniBand or RoCE port");
	else if (!ill)
		osp_result_pass(context, "%zu of %zu active", active, ports->count);
}

static void run_infiniband(struct osp_check_context *context)
{
	struct ports ports = {.count = 0};
	struct osp_names devices;

	if (osp_root_list(context->root, &devices, "sys/class/infiniband"))
		for (size_t i = 0; i < devices.count; i++)
			read_ports(context, devices.names[i], &ports);
	osp_names_free(&devices);
	judge_ports(context, &ports);
}

const struct osp_check osp_check_infiniband = {
	.name = "infiniband",
	.group = OSP_GROUP_NETWORK,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 2000,
	.measures = "InfiniBand and RoCE ports are active, run at full rate and do not flap",
	.explains =
		"State, rate and count of link downs of each port that is not EFA's. How many "
		"must be active and how fast is for the thresholds to say (ib_ports, "
		"ib_rate_gbps); without them a port that is down, or slower than the node's "
		"others, warns. A link that went down since the last pass warns, one that did so "
		"often in a day fails (ib_flaps). Ports that are switched off do not count.",
	.cures = "Look at cable, switch port and subnet manager.",
	.run = run_infiniband,
};

/* --- user space access ------------------------------------------------------------------------ */

/* Returns whether programs use the device: it is EFA's, or a port of it is InfiniBand. An Ethernet
 * adapter that could do RDMA gets its device without being asked. */
static bool is_for_rdma(const struct osp_check_context *context, const char *device)
{
	struct osp_names ports;
	char text[64];
	bool is = false;

	if (osp_root_link_name(context->root, text, sizeof(text),
			       "sys/class/infiniband/%s/device/driver", device) &&
	    strcmp(text, "efa") == 0)
		return true;
	if (!osp_root_list(context->root, &ports, "sys/class/infiniband/%s/ports", device))
		return false;
	for (size_t i = 0; i < ports.count && !is; i++)
		is = osp_root_read(context->root, text, sizeof(text),
				   "sys/class/infiniband/%s/ports/%s/link_layer", device,
				   ports.names[i]) &&
		     strcmp(text, "InfiniBand") == 0;
	osp_names_free(&ports);
	return is;
}

static void run_rdma_module(struct osp_check_context *context)
{
	struct osp_names devices, verbs;
	bool any, needed = osp_check_limit(context, OSP_LIMIT_EFA_DEVICES, NULL) ||
			   osp_check_limit(context, OSP_LIMIT_IB_PORTS, NULL);

	any = osp_root_list(context->root, &devices, "sys/class/infiniband") && devices.count;
	for (size_t i = 0; i < devices.count && !needed; i++)
		needed = is_for_rdma(context, devices.names[i]);
	osp_names_free(&devices);
	if (!any) {
		osp_result_skip(context, "no RDMA device");
		return;
	}
	if (osp_root_list(context->root, &verbs, "sys/class/infiniband_verbs") && verbs.count)
		osp_result_pass(context, "loaded");
	else
		osp_result_add(
			context, needed ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_ASK, "",
			"not loaded", NULL, NULL,
			"RDMA devices are there, but programs cannot use them: the kernel module "
			"ib_uverbs is not loaded");
	osp_names_free(&verbs);
}

const struct osp_check osp_check_rdma_module = {
	.name = "rdma-module",
	.group = OSP_GROUP_NETWORK,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 1000,
	.measures = "programs can reach RDMA devices (kernel module ib_uverbs)",
	.explains = "Looks for /sys/class/infiniband_verbs where there are RDMA devices. It fails "
		    "where EFA or InfiniBand is there or due (efa_devices, ib_ports), and warns "
		    "elsewhere: drivers of Ethernet adapters make RDMA devices unasked.",
	.cures = "modprobe ib_uverbs, and load it at boot.",
	.run = run_rdma_module,
};
