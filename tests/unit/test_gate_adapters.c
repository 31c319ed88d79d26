/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of adapters of each kind, from a tree as the kernel shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gate/gate_adapters.h"

static char root[64];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* In the tree. */
static void shell(const char *format, ...)
{
	char line[2048];
	va_list arguments;
	int length = snprintf(line, sizeof(line), "cd %s && ", root);

	va_start(arguments, format);
	vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
	va_end(arguments);
	assert_int_equal(system(line), 0);
}

static int begin(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_gate_adapters.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	shell("rm -rf %s", root);
	return 0;
}

/* A network device of `driver` with those bytes; "" for one that is made of others. */
static void net(const char *name, const char *driver, unsigned int in, unsigned int out)
{
	shell("mkdir -p sys/class/net/%s/statistics && echo 1 >sys/class/net/%s/type && "
	      "echo %u >sys/class/net/%s/statistics/rx_bytes && "
	      "echo %u >sys/class/net/%s/statistics/tx_bytes",
	      name, name, in, name, out, name);
	if (*driver)
		shell("mkdir -p sys/bus/%s sys/devices/%s && ln -s ../../bus/%s "
		      "sys/devices/%s/driver "
		      "&& ln -s ../../../devices/%s sys/class/net/%s/device",
		      driver, name, driver, name, name, name);
}

/* Files with a number each, in a folder of sys. */
static void counters(const char *folder, const char *files)
{
	shell("mkdir -p sys/%s && for pair in %s; do echo ${pair#*=} >sys/%s/${pair%%=*}; done",
	      folder, files, folder);
}

/* "name in+in out+out held", "!" if it is not readable, joined by ", ". */
static void expect(const char *interface, const char *expected)
{
	struct gate_reading reading;
	char said[1024] = "";
	size_t length = 0;

	gate_reading_start(&reading, root, interface);
	while (!gate_reading_take(&reading))
		usleep(1000);
	for (uint32_t i = 0; i < reading.adapters.count; i++) {
		const struct osp_gate_adapter *adapter = &reading.adapters.adapters[i];

		length += (size_t)snprintf(
			said + length, sizeof(said) - length,
			"%s%s %" PRIu64 "+%" PRIu64 " %" PRIu64 "+%" PRIu64 " %" PRIu64 "%s",
			i ? ", " : "", adapter->name, adapter->in_bytes[0], adapter->in_bytes[1],
			adapter->out_bytes[0], adapter->out_bytes[1], adapter->held_back,
			adapter->readable ? "" : " !");
	}
	assert_string_equal(said, expected);
}

static void network_devices_count_bytes(void **state)
{
	(void)state;
	net("eth0", "mlx5_core", 1000, 2000);
	net("veth0", "", 5, 6); /* no device of its own */
	expect("eth0", "eth0 1000+0 2000+0 0");
	expect("", "eth0 1000+0 2000+0 0");
	shell("rm sys/class/net/eth0/statistics/tx_bytes");
	expect("eth0", "eth0 1000+0 0+0 0 !");
}

static void what_carries_it_is_counted(void **state)
{
	(void)state;
	net("eth0", "mlx5_core", 1000, 2000);
	net("eth1", "mlx5_core", 10, 20);
	net("bond0", "", 1010, 2020);
	net("bond0.7", "", 1, 2);
	shell("mkdir sys/class/net/bond0/lower_eth0 sys/class/net/bond0/lower_eth1 "
	      "sys/class/net/bond0.7/lower_bond0");
	expect("bond0.7", "eth0 1000+0 2000+0 0, eth1 10+0 20+0 0");
}

static void words_of_four_bytes(void **state)
{
	(void)state;
	net("eth0", "mlx5_core", 1000, 2000);
	net("ib0", "mlx5_ib", 7, 8);
	shell("echo 32 >sys/class/net/ib0/type && mkdir -p sys/devices/eth0/infiniband/mlx5_0");
	counters("class/infiniband/mlx5_0/ports/1/counters", "port_rcv_data=25 port_xmit_data=50");
	counters("class/infiniband/mlx5_0/ports/2/counters", "port_rcv_data=1 port_xmit_data=2");
	expect("eth0", "eth0 1000+0 2000+0 0, mlx5_0:1 100+0 200+0 0, mlx5_0:2 4+0 8+0 0");
	expect("", "eth0 1000+0 2000+0 0, mlx5_0:1 100+0 200+0 0, mlx5_0:2 4+0 8+0 0");
	shell("rm sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data");
	expect("", "eth0 1000+0 2000+0 0, mlx5_0:1 100+0 200+0 0, mlx5_0:2 1+0 0+0 0 !");
	shell("rm -r sys/class/infiniband/mlx5_0/ports");
	expect("", "eth0 1000+0 2000+0 0, mlx5_0 0+0 0+0 0 !");
}

#define EFA                                                                                        \
	"rx_bytes=100 tx_bytes=200 recv_bytes=1 rdma_read_bytes=20 rdma_write_recv_bytes=300 "     \
	"send_bytes=4 rdma_write_bytes=50 rdma_read_resp_bytes=600"

static void efa_counts_rdma_apart(void **state)
{
	(void)state;
	counters("class/infiniband/rdmap0s6/ports/1/hw_counters", EFA);
	expect("", "rdmap0s6:1 100+321 200+654 0");
	shell("rm -r sys/class");
	counters("class/infiniband/rdmap0s6/hw_counters", EFA); /* older kernels */
	expect("", "rdmap0s6 100+321 200+654 0");
}

static void ena_says_what_the_cloud_held_back(void **state)
{
	(void)state;
	net("ens5", "ena", 1000, 2000);
	expect("ens5", "ens5 1000+0 2000+0 0 !"); /* it is not known */
	shell("printf 'tx_timeout: 9\\nbw_in_allowance_exceeded: 3\\nbw_out_allowance_exceeded: "
	      "40\\n"
	      "pps_allowance_exceeded: 500\\n' >sys/class/net/ens5/ethtool");
	expect("ens5", "ens5 1000+0 2000+0 543");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(network_devices_count_bytes, begin, end),
		cmocka_unit_test_setup_teardown(what_carries_it_is_counted, begin, end),
		cmocka_unit_test_setup_teardown(words_of_four_bytes, begin, end),
		cmocka_unit_test_setup_teardown(efa_counts_rdma_apart, begin, end),
		cmocka_unit_test_setup_teardown(ena_says_what_the_cloud_held_back, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
