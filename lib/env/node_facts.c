/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_facts.c - reads facts about this node and its software from files */
#include "onespine_config.h"
#include "lib/env/node_facts.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/environment.h"
#include "lib/base/text.h"
#include "lib/env/node_hcas.h"
#include "lib/env/node_software.h"

#define SMALL_FILE_BYTES ((size_t)64 * 1024)

char *osp_node_read(const char *root, const char *path, size_t limit_bytes, size_t *length_bytes)
{
	char whole[PATH_MAX];

	if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return NULL;
	return osp_read_file(whole, limit_bytes, length_bytes);
}

/* Reads the first line of a small file without the blanks at its end; "" if there is none. */
static const char *first_line(const char *root, const char *path, char *buffer, size_t bytes)
{
	size_t length = 0;
	char *text = osp_node_read(root, path, SMALL_FILE_BYTES, &length);

	snprintf(buffer, bytes, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
	for (length = strlen(buffer); length && isspace((unsigned char)buffer[length - 1]);)
		buffer[--length] = '\0';
	return buffer;
}

void osp_node_set_fact(struct osp_facts *facts, enum osp_fact_id id, const char *text)
{
	if (*text)
		(void)osp_facts_set(facts, id, text, NULL); /* not parsed: unknown */
}

/* Calls `see` with each name in a folder until it returns false. */
static void for_each_name(const char *root, const char *folder,
			  bool (*see)(void *context, const char *name), void *context)
{
	char whole[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(whole, sizeof(whole), "%s%s", root, folder) >= (int)sizeof(whole))
		return;
	dir = opendir(whole);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && !see(context, entry->d_name))
			break;
	}
	if (dir)
		closedir(dir);
}

/* --- PCI and the fabric ----------------------------------------------------------------------- */

struct seen {
	const char *root;
	int gpus;
	const char *vendor;  /* of the GPUs */
	char gpu_device[16]; /* of all of them; "" if they differ */
	int efa;
	bool infiniband, ethernet;
};

/* Notes a GPU: "0x10de" and "0x2330" are "10de:2330". */
static void see_gpu(struct seen *seen, const char *vendor, const char *device)
{
	char both[sizeof(seen->gpu_device)];
	bool known = strlen(vendor) == 6 && strlen(device) == 6;

	snprintf(both, sizeof(both), "%s:%s", known ? vendor + 2 : "", known ? device + 2 : "");
	if (!known || (seen->gpus && strcmp(both, seen->gpu_device) != 0))
		both[0] = '\0';
	strcpy(seen->gpu_device, both);
	seen->gpus++;
}

/* Notes a display or processing controller of NVIDIA or AMD; AMD's accelerators are "display,
 * other". */
static bool see_pci(void *context, const char *name)
{
	struct seen *seen = context;
	char path[PATH_MAX], vendor[16], class[16], device[16];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", name);
	first_line(seen->root, path, vendor, sizeof(vendor));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", name);
	first_line(seen->root, path, class, sizeof(class));
	if (!strcmp(vendor, "0x10de") &&
	    (!strncmp(class, "0x0302", 6) || !strncmp(class, "0x0300", 6)))
		seen->vendor = "nvidia";
	else if (!strcmp(vendor, "0x1002") && !strncmp(class, "0x0380", 6))
		seen->vendor = "amd";
	else
		return true;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", name);
	see_gpu(seen, vendor, first_line(seen->root, path, device, sizeof(device)));
	return true;
}

/* Notes an adapter: EFA by its driver, others by their link layer. */
static bool see_hca(void *context, const char *name)
{
	struct seen *seen = context;
	char path[PATH_MAX], target[PATH_MAX], layer[32];
	ssize_t length;

	if (snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/driver", seen->root,
		     name) >= (int)sizeof(path))
		return true;
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	if (length > 4 && !strcmp(target + length - 4, "/efa")) {
		seen->efa++;
		return true;
	}
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/link_layer", name);
	first_line(seen->root, path, layer, sizeof(layer));
	seen->infiniband |= !strcmp(layer, "InfiniBand");
	seen->ethernet |= !strcmp(layer, "Ethernet");
	return true;
}

static const char *fabric_of(const struct seen *seen)
{
	return seen->efa ? "efa" : seen->infiniband ? "infiniband" : seen->ethernet ? "roce" : "";
}

/* Sets the facts about devices. What the node shows overrides its type: if it shows GPUs but no
 * adapter, the type's fabric is missing, or not there yet, and becomes unknown. */
static void report_devices(const struct seen *seen, struct osp_facts *facts)
{
	const char *fabric = facts->facts[OSP_FACT_FABRIC].text;
	char list[OSP_FACT_BYTES];

	osp_node_set_fact(facts, OSP_FACT_VENDOR, seen->vendor ? seen->vendor : "");
	if (!seen->efa)
		osp_node_set_fact(facts, OSP_FACT_GPU_HCAS,
				  osp_node_hcas(seen->root, list, sizeof(list)));
	if (seen->gpus && !*fabric_of(seen) && strcmp(fabric, "ethernet") != 0)
		(void)osp_facts_set(facts, OSP_FACT_FABRIC, "", NULL);
	osp_node_set_fact(facts, OSP_FACT_FABRIC, fabric_of(seen));
}

/* --- its type --------------------------------------------------------------------------------- */

static void find_type(const struct seen *seen, const struct osp_catalogue *catalogue,
		      struct osp_facts *facts, struct osp_node *node)
{
	struct osp_recognised recognised;
	char tag[128];
	struct osp_node_shows shows = {
		.product = first_line(seen->root, "/sys/devices/virtual/dmi/id/product_name",
				      node->product, sizeof(node->product)),
		.chassis_tag =
			first_line(seen->root, "/sys/devices/virtual/dmi/id/chassis_asset_tag", tag,
				   sizeof(tag)),
		.gpu_device = seen->gpu_device,
		.fabric = fabric_of(seen),
		.gpus = seen->gpus,
	};

	osp_catalogue_recognise(catalogue, &shows, &recognised);
	node->instance = recognised.type;
	memcpy(node->rivals, recognised.rivals, sizeof(node->rivals));
	if (node->instance)
		osp_facts_take_instance(facts, node->instance);
	else if (recognised.provider)
		osp_node_set_fact(facts, OSP_FACT_PROVIDER, recognised.provider);
}

/* --- network interfaces ----------------------------------------------------------------------- */

static bool counts(const char *name)
{
	return strcmp(name, "lo") != 0 && strncmp(name, "docker", 6) != 0 &&
	       strncmp(name, "veth", 4) != 0;
}

#define INTERFACES_MAX 64

/* Reads the kernel's IPv4 routes: lines of "Iface Destination ...", the destination in hex. */
static void look_at_routes(const char *root, struct osp_facts *facts)
{
	char names[INTERFACES_MAX][32], name[32], destination[16], number[24];
	size_t length = 0, count = 0, i;
	char *text = osp_node_read(root, "/proc/net/route", (size_t)1024 * 1024, &length);
	bool has_default = false;

	for (const char *line = text ? strchr(text, '\n') : NULL; line && line[1];
	     line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, "%31s %15s", name, destination) != 2 || !counts(name))
			continue;
		for (i = 0; i < count && strcmp(names[i], name) != 0; i++)
			;
		if (i == count && count < INTERFACES_MAX)
			strcpy(names[count++], name);
		if (!has_default && !strcmp(destination, "00000000")) {
			osp_node_set_fact(facts, OSP_FACT_DEFAULT_INTERFACE, name);
			has_default = true;
		}
	}
	if (count) {
		snprintf(number, sizeof(number), "%zu", count);
		osp_node_set_fact(facts, OSP_FACT_INTERFACES, number);
	}
	free(text);
}

/* --- drivers, limits -------------------------------------------------------------------------- */

static void look_at_kernel(const char *root, struct osp_facts *facts)
{
	char line[256];

	osp_node_set_fact(facts, OSP_FACT_KERNEL,
			  first_line(root, "/proc/sys/kernel/osrelease", line, sizeof(line)));
	osp_node_set_fact(facts, OSP_FACT_DRIVER,
			  first_line(root, "/sys/module/nvidia/version", line, sizeof(line)));
	osp_node_set_fact(facts, OSP_FACT_GDRCOPY,
			  first_line(root, "/sys/module/gdrdrv/version", line, sizeof(line)));
	first_line(root, "/proc/driver/nvidia/version", line, sizeof(line));
	if (*line)
		osp_node_set_fact(facts, OSP_FACT_OPEN_DRIVER,
				  strstr(line, "Open Kernel Module") ? "yes" : "no");
}

/* Returns whether systemd's files mean yes: 1, yes, true or on. */
static bool is_yes(const char *value)
{
	return strspn(value, "1yYtT") || strncasecmp(value, "on", 2) == 0;
}

/* Reads "RemoveIPC=no" from a file of logind's. Returns "yes", "no", or NULL if the file does not
 * say. */
static const char *remove_ipc_in(const char *root, const char *path)
{
	static const char key[] = "RemoveIPC=";
	size_t length = 0;
	char *text = osp_node_read(root, path, SMALL_FILE_BYTES, &length);
	const char *reported = NULL;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \t\n");
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			reported = is_yes(line + sizeof(key) - 1) ? "yes" : "no";
	}
	free(text);
	return reported;
}

struct remove_ipc {
	const char *root;
	const char *reported;
	char by[256]; /* the file of logind.conf.d that sets it: the last by name wins */
};

static bool see_logind(void *context, const char *name)
{
	struct remove_ipc *seen = context;
	char path[PATH_MAX];
	const char *reported;

	snprintf(path, sizeof(path), "/etc/systemd/logind.conf.d/%s", name);
	reported = strcmp(name, seen->by) > 0 ? remove_ipc_in(seen->root, path) : NULL;
	if (reported) {
		seen->reported = reported;
		snprintf(seen->by, sizeof(seen->by), "%s", name);
	}
	return true;
}

/* Sets the fact only if a file says it, because logind's built-in default differs between
 * distributions. */
static void look_at_logind(const char *root, struct osp_facts *facts)
{
	struct remove_ipc seen = {.root = root,
				  .reported = remove_ipc_in(root, "/etc/systemd/logind.conf")};

	for_each_name(root, "/etc/systemd/logind.conf.d", see_logind, &seen);
	if (seen.reported)
		osp_node_set_fact(facts, OSP_FACT_REMOVE_IPC, seen.reported);
}

/* Finds a limit as Slurm passes it on, else this process's own. Returns false if neither is
 * known. */
static bool find_limit(char *const *environment, const char *name, int resource, rlim_t *limit)
{
	const char *text = environment ? osp_environment_value(environment, name) : NULL;
	struct rlimit own;
	char *end;

	if (text && isdigit((unsigned char)*text)) {
		*limit = (rlim_t)strtoull(text, &end, 10);
		return !*end;
	}
	if (getrlimit(resource, &own))
		return false;
	*limit = own.rlim_cur;
	return true;
}

void osp_node_limits(char *const *environment, struct osp_facts *facts)
{
	struct statvfs shared;
	char number[32];
	rlim_t limit;

	if (statvfs("/dev/shm", &shared) == 0) {
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)shared.f_blocks * shared.f_frsize >> 30);
		osp_node_set_fact(facts, OSP_FACT_SHM_GIB, number);
	}
	if (find_limit(environment, "SLURM_RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, &limit))
		osp_node_set_fact(facts, OSP_FACT_MEMLOCK_UNLIMITED,
				  limit == RLIM_INFINITY ? "yes" : "no");
	if (find_limit(environment, "SLURM_RLIMIT_STACK", RLIMIT_STACK, &limit))
		osp_node_set_fact(facts, OSP_FACT_STACK_UNLIMITED,
				  limit == RLIM_INFINITY ? "yes" : "no");
	if (find_limit(environment, "SLURM_RLIMIT_NOFILE", RLIMIT_NOFILE, &limit) &&
	    limit < 4000000000u) {
		snprintf(number, sizeof(number), "%lu", (unsigned long)limit);
		osp_node_set_fact(facts, OSP_FACT_NOFILE, number);
	}
}

void osp_node_hardware(const char *root, const struct osp_catalogue *catalogue,
		       struct osp_facts *facts, struct osp_node *node)
{
	struct seen seen = {.root = root};

	memset(facts, 0, sizeof(*facts));
	memset(node, 0, sizeof(*node));
	for_each_name(root, "/sys/bus/pci/devices", see_pci, &seen);
	for_each_name(root, "/sys/class/infiniband", see_hca, &seen);
	node->gpus = seen.gpus ? seen.gpus : -1;
	node->efa_adapters = seen.gpus || seen.efa ? seen.efa : -1;
	find_type(&seen, catalogue, facts, node);
	report_devices(&seen, facts);
	look_at_routes(root, facts);
	look_at_kernel(root, facts);
	look_at_logind(root, facts);
}

void osp_node_facts(const struct osp_search *search, const struct osp_catalogue *catalogue,
		    struct osp_facts *facts, struct osp_node *node)
{
	osp_node_hardware(search->root, catalogue, facts, node);
	if (!*search->root)
		osp_node_limits(NULL, facts);
	osp_node_software(search, facts);
}
