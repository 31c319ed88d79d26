/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_known_nodes.c - who may report for a node */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/report/known_nodes.h"

static struct osp_listed_node listed[] = {
	{.name = "n1", .address = "127.0.0.1", .instance_id = "", .slurm_topology = ""},
	{.name = "n2", .address = "127.0.0.2", .instance_id = "", .slurm_topology = ""},
	/* its address is its name */
	{.name = "::1", .address = "", .instance_id = "", .slurm_topology = ""},
};

static const struct sockaddr_storage *from(const char *address)
{
	static struct sockaddr_storage storage;
	struct sockaddr_in *four = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;

	memset(&storage, 0, sizeof(storage));
	if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
		storage.ss_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, address, &six->sin6_addr), 1);
		storage.ss_family = AF_INET6;
	}
	return &storage;
}

static void a_node_speaks_for_itself_once_a_second(void **state)
{
	struct osp_known_nodes *known = osp_known_nodes_new();
	struct osp_node_list list = {.nodes = listed, .count = 3};

	(void)state;
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("127.0.0.1"), 5000),
			 OSP_KNOWN_STRANGER);
	osp_known_nodes_set(known, &list);
	assert_int_equal(osp_known_nodes_judge(known, "n9", from("127.0.0.1"), 5000),
			 OSP_KNOWN_STRANGER);
	assert_int_equal(osp_known_nodes_judge(known, "n2", from("127.0.0.1"), 5000),
			 OSP_KNOWN_ELSEWHERE);
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("127.0.0.1"), 5000),
			 OSP_KNOWN_HERE);
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("127.0.0.1"), 5999),
			 OSP_KNOWN_SOON);
	/* who says to be the node does not keep it from being heard */
	assert_int_equal(osp_known_nodes_judge(known, "n2", from("127.0.0.1"), 5000),
			 OSP_KNOWN_ELSEWHERE);
	assert_int_equal(osp_known_nodes_judge(known, "n2", from("127.0.0.2"), 5001),
			 OSP_KNOWN_HERE);
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("127.0.0.1"), 6000),
			 OSP_KNOWN_HERE);
	/* of IPv6's form, on a socket of both families */
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("::ffff:127.0.0.1"), 9000),
			 OSP_KNOWN_HERE);
	assert_int_equal(osp_known_nodes_judge(known, "::1", from("::1"), 9000), OSP_KNOWN_HERE);
	/* a new list remembers when who was heard, and forgets who is gone */
	list.count = 1;
	osp_known_nodes_set(known, &list);
	assert_int_equal(osp_known_nodes_judge(known, "n1", from("127.0.0.1"), 9999),
			 OSP_KNOWN_SOON);
	assert_int_equal(osp_known_nodes_judge(known, "n2", from("127.0.0.2"), 9999),
			 OSP_KNOWN_STRANGER);
	osp_known_nodes_free(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_speaks_for_itself_once_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
