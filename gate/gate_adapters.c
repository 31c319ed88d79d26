/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_adapters.c - counters of this node's adapters, around a round of the network test */
#include "onespine_config.h"
#include "gate/gate_adapters.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/root.h"
#include "lib/base/text.h"

#define LOWER_MOST	4  /* a VLAN on a bond on ... */
#define INFINIBAND_TYPE 32 /* ARPHRD_INFINIBAND: its port counts its bytes */
#define WORD_BYTES	4  /* of port_rcv_data and port_xmit_data */
#define STATISTICS_MAX	4096
#define ALLOWANCE	"_allowance_exceeded"

struct reader {
	const char *root;
	struct osp_gate_adapters *adapters;
};

/* Returns a new one, or NULL: there are too many, and then none of them counts. */
static struct osp_gate_adapter *add(struct reader *reader, const char *name)
{
	struct osp_gate_adapters *adapters = reader->adapters;
	struct osp_gate_adapter *adapter;

	for (uint32_t i = 0; i < adapters->count; i++)
		if (!strcmp(adapters->adapters[i].name, name))
			return NULL;
	if (adapters->count == OSP_GATE_ADAPTERS_MAX) {
		adapters->adapters[0].readable = false;
		return NULL;
	}
	adapter = &adapters->adapters[adapters->count++];
	memset(adapter, 0, sizeof(*adapter));
	snprintf(adapter->name, sizeof(adapter->name), "%s", name);
	return adapter;
}

/* --- what the cloud holds back ---------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && !strcmp(name + length - end_length, end);
}

/* Reads lines like "pps_allowance_exceeded: 12". */
static bool read_allowances_file(const char *root, const char *name, uint64_t *held_back)
{
	char text[4096], *line, *rest = NULL;

	if (!osp_root_read(root, text, sizeof(text), "sys/class/net/%s/ethtool", name))
		return false;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (ends_with(line, ALLOWANCE))
			*held_back += strtoull(colon + 1, NULL, 10);
	}
	return true;
}

static bool ask_ethtool(int file, const char *name, void *question)
{
	struct ifreq request;

	memset(&request, 0, sizeof(request));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	request.ifr_data = question;
	return ioctl(file, SIOCETHTOOL, &request) == 0;
}

static uint32_t count_statistics(int file, const char *name)
{
	struct ethtool_sset_info *question = calloc(1, sizeof(*question) + sizeof(uint32_t));
	uint32_t count = 0;

	if (!question)
		return 0;
	question->cmd = ETHTOOL_GSSET_INFO;
	question->sset_mask = 1ULL << ETH_SS_STATS;
	if (ask_ethtool(file, name, question) && question->sset_mask)
		count = question->data[0];
	free(question);
	return count <= STATISTICS_MAX ? count : 0;
}

static bool sum_allowances(int file, const char *name, uint32_t count, uint64_t *held_back)
{
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + count * ETH_GSTRING_LEN);
	struct ethtool_stats *values = calloc(1, sizeof(*values) + count * sizeof(uint64_t));
	bool read = false;

	if (names && values) {
		names->cmd = ETHTOOL_GSTRINGS;
		names->string_set = ETH_SS_STATS;
		names->len = count;
		values->cmd = ETHTOOL_GSTATS;
		values->n_stats = count;
		read = ask_ethtool(file, name, names) && ask_ethtool(file, name, values);
	}
	for (uint32_t i = 0; read && i < count; i++) {
		char word[ETH_GSTRING_LEN + 1];

		snprintf(word, sizeof(word), "%.*s", ETH_GSTRING_LEN,
			 (const char *)names->data + (size_t)i * ETH_GSTRING_LEN);
		if (ends_with(word, ALLOWANCE))
			*held_back += values->data[i];
	}
	free(names);
	free(values);
	return read;
}

static bool read_allowances(const char *root, const char *name, uint64_t *held_back)
{
	int file;
	uint32_t count;
	bool read;

	if (*root)
		return read_allowances_file(root, name, held_back);
	file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (file < 0)
		return false;
	count = count_statistics(file, name);
	read = count && sum_allowances(file, name, count, held_back);
	close(file);
	return read;
}

/* --- network devices -------------------------------------------------------------------------- */

static void read_net(struct reader *reader, const char *name)
{
	struct osp_gate_adapter *adapter;
	char driver[32];
	uint64_t type = 0;

	osp_root_number(reader->root, &type, "sys/class/net/%s/type", name);
	if (type == INFINIBAND_TYPE)
		return;
	adapter = add(reader, name);
	if (!adapter)
		return;
	adapter->readable = osp_root_number(reader->root, &adapter->in_bytes[0],
					    "sys/class/net/%s/statistics/rx_bytes", name) &&
			    osp_root_number(reader->root, &adapter->out_bytes[0],
					    "sys/class/net/%s/statistics/tx_bytes", name);
	if (osp_root_link_name(reader->root, driver, sizeof(driver),
			       "sys/class/net/%s/device/driver", name) &&
	    !strcmp(driver, "ena") && !read_allowances(reader->root, name, &adapter->held_back))
		adapter->readable = false;
}

/* --- RDMA devices ----------------------------------------------------------------------------- */

static uint64_t sum_of(const char *root, const char *folder, const char *const *names)
{
	uint64_t sum = 0, value;

	for (; *names; names++)
		if (osp_root_number(root, &value, "%s/%s", folder, *names))
			sum += value;
	return sum;
}

/* Reads EFA's own counters; returns false if there are none. */
static bool read_hardware(const char *root, const char *folder, struct osp_gate_adapter *adapter)
{
	static const char *const in[] = {"recv_bytes", "rdma_read_bytes", "rdma_write_recv_bytes",
					 NULL};
	static const char *const out[] = {"send_bytes", "rdma_write_bytes", "rdma_read_resp_bytes",
					  NULL};

	if (!osp_root_number(root, &adapter->in_bytes[0], "%s/rx_bytes", folder) ||
	    !osp_root_number(root, &adapter->out_bytes[0], "%s/tx_bytes", folder))
		return false;
	adapter->in_bytes[1] = sum_of(root, folder, in);
	adapter->out_bytes[1] = sum_of(root, folder, out);
	return true;
}

static bool read_words(const char *root, const char *folder, struct osp_gate_adapter *adapter)
{
	if (!osp_root_number(root, &adapter->in_bytes[0], "%s/port_rcv_data", folder) ||
	    !osp_root_number(root, &adapter->out_bytes[0], "%s/port_xmit_data", folder))
		return false;
	adapter->in_bytes[0] *= WORD_BYTES;
	adapter->out_bytes[0] *= WORD_BYTES;
	return true;
}

static void read_port(struct reader *reader, const char *device, const char *port)
{
	char folder[160], name[96];
	struct osp_gate_adapter *adapter;

	snprintf(name, sizeof(name), "%.20s:%.8s", device, port);
	adapter = add(reader, name);
	if (!adapter)
		return;
	snprintf(folder, sizeof(folder), "sys/class/infiniband/%s/ports/%s/counters", device, port);
	adapter->readable = read_words(reader->root, folder, adapter);
	snprintf(folder, sizeof(folder), "sys/class/infiniband/%s/ports/%s/hw_counters", device,
		 port);
	adapter->readable = adapter->readable || read_hardware(reader->root, folder, adapter);
}

static void read_rdma(struct reader *reader, const char *device)
{
	struct osp_gate_adapter whole = {.readable = true};
	struct osp_names ports;
	char folder[160];

	snprintf(folder, sizeof(folder), "sys/class/infiniband/%s/hw_counters", device);
	if (read_hardware(reader->root, folder, &whole)) {
		struct osp_gate_adapter *adapter = add(reader, device);

		if (adapter) {
			memcpy(whole.name, adapter->name, sizeof(whole.name));
			*adapter = whole;
		}
		return;
	}
	if (!osp_root_list(reader->root, &ports, "sys/class/infiniband/%s/ports", device)) {
		add(reader, device); /* not readable */
		return;
	}
	for (size_t i = 0; i < ports.count; i++)
		read_port(reader, device, ports.names[i]);
	osp_names_free(&ports);
}

/* --- which of them ---------------------------------------------------------------------------- */

/* Reads an interface, or the interfaces below that carry it. */
static void read_interface(struct reader *reader, const char *name, int depth)
{
	struct osp_names entries;
	bool lower = false;

	if (!osp_root_list(reader->root, &entries, "sys/class/net/%s", name))
		return;
	for (size_t i = 0; i < entries.count && depth < LOWER_MOST; i++)
		if (!strncmp(entries.names[i], "lower_", 6)) {
			read_interface(reader, entries.names[i] + 6, depth + 1);
			lower = true;
		}
	osp_names_free(&entries);
	if (lower)
		return;
	read_net(reader, name);
	if (!osp_root_list(reader->root, &entries, "sys/class/net/%s/device/infiniband", name))
		return;
	for (size_t i = 0; i < entries.count; i++)
		read_rdma(reader, entries.names[i]);
	osp_names_free(&entries);
}

/* Devices, and nothing that is made of them: their bytes would count twice. */
static void read_all(struct reader *reader)
{
	struct osp_names names;

	if (osp_root_list(reader->root, &names, "sys/class/net")) {
		for (size_t i = 0; i < names.count; i++)
			if (osp_root_exists(reader->root, "sys/class/net/%s/device",
					    names.names[i]))
				read_net(reader, names.names[i]);
		osp_names_free(&names);
	}
	if (osp_root_list(reader->root, &names, "sys/class/infiniband")) {
		for (size_t i = 0; i < names.count; i++)
			read_rdma(reader, names.names[i]);
		osp_names_free(&names);
	}
}

/*
 * Reads the counters of `interface`, which the round uses, of the interfaces below it (of a bond, a
 * VLAN or a bridge), and of the RDMA ports of the same devices; of all devices if `interface` is ""
 * or does not exist. A counter that cannot be read is marked so.
 */
static void read_adapters(const char *root, const char *interface,
			  struct osp_gate_adapters *adapters)
{
	struct reader reader = {.root = root, .adapters = adapters};
	struct timespec now;

	memset(adapters, 0, sizeof(*adapters));
	if (*interface && osp_root_exists(root, "sys/class/net/%s", interface))
		read_interface(&reader, interface, 0);
	else
		read_all(&reader);
	clock_gettime(CLOCK_MONOTONIC, &now);
	adapters->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool same_address(const struct sockaddr *one, const struct sockaddr_storage *other)
{
	if (!one || one->sa_family != other->ss_family)
		return false;
	if (one->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)one)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)other)->sin_addr.s_addr;
	return one->sa_family == AF_INET6 &&
	       !memcmp(&((const struct sockaddr_in6 *)(const void *)one)->sin6_addr,
		       &((const struct sockaddr_in6 *)other)->sin6_addr, sizeof(struct in6_addr));
}

const char *gate_adapters_interface(const struct sockaddr_storage *address, char *name,
				    size_t name_bytes)
{
	struct ifaddrs *list;

	name[0] = '\0';
	if (getifaddrs(&list))
		return name;
	for (struct ifaddrs *at = list; at && !*name; at = at->ifa_next)
		if (same_address(at->ifa_addr, address))
			snprintf(name, name_bytes, "%.*s", (int)strcspn(at->ifa_name, ":"),
				 at->ifa_name);
	freeifaddrs(list);
	return name;
}

/* --- by a child ------------------------------------------------------------------------------- */

void gate_reading_start(struct gate_reading *reading, const char *root, const char *interface)
{
	static struct osp_gate_adapters adapters; /* the child's */

	memset(reading, 0, sizeof(*reading));
	reading->child = osp_child_start(&reading->answer);
	if (reading->child == 0) {
		read_adapters(root, interface, &adapters);
		_exit(osp_write_all(reading->answer, &adapters, sizeof(adapters)) ? 0 : 1);
	}
	if (reading->child < 0) {
		reading->child = 0;
		reading->done = true;
		return;
	}
	fcntl(reading->answer, F_SETFL, O_NONBLOCK);
}

bool gate_reading_take(struct gate_reading *reading)
{
	while (!reading->done) {
		ssize_t count =
			read(reading->answer, (char *)&reading->adapters + reading->got_bytes,
			     sizeof(reading->adapters) - reading->got_bytes);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return false;
		reading->got_bytes += count > 0 ? (size_t)count : 0;
		reading->done = count <= 0 || reading->got_bytes == sizeof(reading->adapters);
	}
	if (reading->got_bytes < sizeof(reading->adapters))
		reading->adapters.count = 0;
	gate_reading_end(reading);
	return true;
}

void gate_reading_end(struct gate_reading *reading)
{
	if (!reading->child)
		return;
	close(reading->answer);
	osp_child_drop(reading->child);
	reading->child = 0;
	if (!reading->done) {
		reading->adapters.count = 0;
		reading->adapters.late = true;
		reading->done = true;
	}
}
