/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fleet_config.c - ParallelCluster's fleet-config.json beside its slurm.conf */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/conf/fleet_config.h"

#define QUEUE(name, content)	"\"" name "\": {" content "}"
#define RESOURCE(name, content) "\"" name "\": {\"Api\": \"run-instances\"" content "}"
#define RESERVED(id)		", \"CapacityReservationId\": \"" id "\""

static const char slurm_conf[] = "ClusterName=c\n"
				 "NodeName=DEFAULT CPUs=8\n"
				 "NodeName=q-st-p5-[1-2] State=CLOUD\n"
				 "NodeName=q-dy-p5-[1-14] State=CLOUD\n"
				 "NodeName=q-dy-p5en-1 State=CLOUD\n"
				 "NodeName=other-dy-p5-[1-4] State=CLOUD\n"
				 "NodeName=login State=UNKNOWN\n";

static char *read_text(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	(void)context;
	(void)path;
	(void)error;
	*bytes = strlen(slurm_conf);
	return strdup(slurm_conf);
}

static void nodes_have_their_reservation(void **state)
{
	static const struct {
		const char *text;
		const char *groups;
		const char *error;
	} cases[] = {
		{"{" QUEUE("q", RESOURCE("p5", RESERVED("cr-0a")) ", " RESOURCE("p5en", "")) "}",
		 "cr-0a=q-st-p5-[1-2],q-dy-p5-[1-14]\n", ""},
		{"{" QUEUE("q",
			   RESOURCE("p5", "") ", " RESOURCE(
				   "p5en",
				   RESERVED("cr-0b"))) ", " QUEUE("other",
								  RESOURCE("p5",
									   RESERVED("cr-0a"))) "}",
		 "cr-0b=q-dy-p5en-1\ncr-0a=other-dy-p5-[1-4]\n", ""},
		/* a queue's own, of which all its compute resources are */
		{"{" QUEUE("q", RESOURCE("p5", RESERVED("cr-0a")) ", " RESOURCE(
					"p5en", RESERVED("cr-0a"))) "}",
		 "cr-0a=q-st-p5-[1-2],q-dy-p5-[1-14],q-dy-p5en-1\n", ""},
		/* a resource group of blocks; a compute resource without a node */
		{"{" QUEUE("q",
			   RESOURCE("p5", ", \"CapacityReservationId\": [\"cr-0a\", "
					  "\"cr-0b\"]") ", " RESOURCE("p6", RESERVED("cr-0c"))) "}",
		 "", ""},
		{"{}", "", ""},
		{"[1]", "", "a map is expected here"},
		{"{\"q\": [1]}", "", "a map is expected here"},
		{"{\"q\": {\"p5\": 1}}", "", ""},
	};
	struct osp_error ignored = {.text = ""};
	struct osp_slurm_conf *conf = osp_slurm_conf_read("slurm.conf", read_text, NULL, &ignored);

	(void)state;
	assert_non_null(conf);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_text groups = OSP_TEXT_INIT;
		struct osp_error error = {.text = ""};
		bool several;
		int rc = osp_fleet_launch_groups("f", cases[i].text, strlen(cases[i].text), conf,
						 &groups, &several, &error);

		assert_int_equal(several, strstr(cases[i].text, "[\"") != NULL);

		assert_string_equal(error.text, cases[i].error);
		assert_int_equal(rc, cases[i].error[0] ? -1 : 0);
		assert_string_equal(groups.data ? groups.data : "", cases[i].groups);
		osp_text_free(&groups);
	}
	osp_slurm_conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_their_reservation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
