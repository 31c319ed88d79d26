/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_waiting.c - what a job waits for, word for word, and which nodes have what it asks for
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/policy/features.h"
#include "lib/policy/waiting.h"

/* A job that asks for everything: the sentence takes what is its own. */
static const struct osp_waiting job = {
	.job = "12",
	.begin = "2026-11-23T18:00:00",
	.dependency = "afterok:7(unfulfilled)",
	.licenses = "matlab:2",
	.reservation = "maint",
	.features = "h100&rhel9",
	.required = "n[1-2]",
	.partition = "gpu",
};

static void sentences(void **state)
{
	static const struct {
		const char *reason;
		enum osp_waiting_kind kind;
		const char *words;
	} rows[] = {
		{NULL, OSP_WAITING_NODES, ""},
		{"Resources", OSP_WAITING_NODES, ""},
		{"None", OSP_WAITING_NODES, ""},
		{"Priority", OSP_WAITING_TURN, "jobs with a higher priority come first"},
		{"JobHeldUser", OSP_WAITING_HOLD,
		 "it is held by its owner; 'scontrol release 12' ends that"},
		{"JobHeldAdmin", OSP_WAITING_HOLD,
		 "it is held by an administrator, who alone can release it"},
		{"BeginTime", OSP_WAITING_BEGIN,
		 "it begins at 2026-11-23T18:00:00 at the earliest (--begin)"},
		{"Dependency", OSP_WAITING_DEPENDENCY,
		 "it depends on other jobs (afterok:7(unfulfilled))"},
		{"DependencyNeverSatisfied", OSP_WAITING_DEPENDENCY,
		 "it depends on what cannot happen any more (afterok:7(unfulfilled)): cancel it, "
		 "or 'scontrol update JobId=12 Dependency='"},
		{"Licenses", OSP_WAITING_LICENSE, "too few licenses are free (matlab:2)"},
		{"License request 'matlab:2' is no longer valid, holding job", OSP_WAITING_LICENSE,
		 "it is held because licenses that it asks for are not offered (matlab:2)"},
		{"Reservation", OSP_WAITING_RESERVATION,
		 "it waits for its reservation maint, which has not begun or has no room yet"},
		{"ReqNodeNotAvail", OSP_WAITING_REQUIRED,
		 "nodes that it needs (-w n[1-2]) are down, drained or reserved for others"},
		{"ReqNodeNotAvail, UnavailableNodes:n1", OSP_WAITING_REQUIRED,
		 "nodes that it needs (-w n[1-2]) are down, drained or reserved for others"},
		{"BadConstraints", OSP_WAITING_CONSTRAINT,
		 "no nodes of partition gpu can be what it asks for (-C h100&rhel9)"},
		{"PartitionDown", OSP_WAITING_PARTITION,
		 "its partition gpu starts no jobs (State=DOWN)"},
		{"PartitionTimeLimit", OSP_WAITING_LIMIT,
		 "it asks for more time than its partition gpu allows a job"},
		{"QOSMaxNodePerUserLimit", OSP_WAITING_LIMIT,
		 "its owner's jobs already take what a limit allows a user "
		 "(QOSMaxNodePerUserLimit)"},
		{"MaxMemPerLimit", OSP_WAITING_LIMIT,
		 "it asks for more memory than its partition or slurm.conf allows "
		 "(MaxMemPerLimit): it never starts so"},
		{"QOSMaxNodePerJobLimit", OSP_WAITING_LIMIT,
		 "it asks for more or less than a limit allows one job (QOSMaxNodePerJobLimit): it "
		 "never starts so"},
		{"QOSMinGRES", OSP_WAITING_LIMIT,
		 "it asks for more or less than a limit allows one job (QOSMinGRES): it never "
		 "starts so"},
		{"QOSGrpCPUMinutesLimit", OSP_WAITING_LIMIT,
		 "the jobs of its QOS already take what a limit allows them "
		 "(QOSGrpCPUMinutesLimit)"},
		{"AssocGrpGRES", OSP_WAITING_LIMIT,
		 "the jobs of its account or user already take what a limit allows them "
		 "(AssocGrpGRES)"},
		{"launch failed requeued held", OSP_WAITING_HOLD,
		 "it is held because a node's Prolog failed; 'scontrol release 12' ends that"},
		{"job requeued in held state", OSP_WAITING_HOLD,
		 "it was put back into the queue and held; 'scontrol release 12' ends that"},
		{"PartitionConfig", OSP_WAITING_LIMIT,
		 "its partition gpu takes no such job as it is set now; 'scontrol show partition' "
		 "has what it takes"},
		{"QOSUsageThreshold", OSP_WAITING_LIMIT,
		 "its owner or account has used more than its QOS allows (UsageThreshold)"},
		{"NodeDown", OSP_WAITING_OTHER,
		 "a node of its last run went down: it starts again when the scheduler comes to "
		 "it"},
		{"OutOfMemory", OSP_WAITING_OTHER,
		 "its last run ended so (OutOfMemory): it starts again when the scheduler comes to "
		 "it"},
		{"SomethingNew", OSP_WAITING_OTHER,
		 "Slurm's reason is SomethingNew, which squeue(1) explains"},
	};
	char words[OSP_WAITING_BYTES], small[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct osp_waiting waiting = job;

		waiting.reason = rows[i].reason;
		assert_int_equal(osp_waiting_kind(rows[i].reason), rows[i].kind);
		assert_string_equal(osp_waiting_words(&waiting, words, sizeof(words)),
				    rows[i].words);
		osp_waiting_words(&waiting, small, sizeof(small));
		assert_int_equal(strncmp(small, rows[i].words, sizeof(small) - 1), 0);
		assert_int_equal(osp_waiting_elsewhere(rows[i].kind),
				 rows[i].kind != OSP_WAITING_NODES &&
					 rows[i].kind != OSP_WAITING_TURN);
	}
}

/* Each reason that a job of 22.05 to 26.05 can wait for (WAIT_ and FAIL_ of job_state_reason), and
 * of limits one of a kind: none is left to "Slurm's reason is". */
static void each_reason(void **state)
{
	static const char *const reasons[] = {
		"Prolog",
		"Priority",
		"Dependency",
		"PartitionNodeLimit",
		"PartitionTimeLimit",
		"PartitionDown",
		"PartitionInactive",
		"JobHeldAdmin",
		"JobHeldUser",
		"NvidiaImexChannels",
		"BeginTime",
		"Licenses",
		"Reservation",
		"ReqNodeNotAvail",
		"FrontEndDown",
		"SchedDefer",
		"NodeDown",
		"BadConstraints",
		"SystemFailure",
		"JobLaunchFailure",
		"NonZeroExitCode",
		"RaisedSignal",
		"TimeLimit",
		"InactiveLimit",
		"InvalidAccount",
		"InvalidQOS",
		"QOSUsageThreshold",
		"Cleaning",
		"QOSNotAllowed",
		"AccountNotAllowed",
		"DependencyNeverSatisfied",
		"JobHoldMaxRequeue",
		"JobArrayTaskLimit",
		"BurstBufferResources",
		"BurstBufferStageIn",
		"BurstBufferOperation",
		"PowerNotAvail",
		"PowerReserved",
		"PartitionConfig",
		"AccountingPolicy",
		"FedJobLock",
		"OutOfMemory",
		"MaxMemPerLimit",
		"ReservationDeleted",
		"ReservationInvalid",
		"Constraints",
		"MaxPoweredUpNodes",
		"MpiPortsBusy",
		"AssociationJobLimit",
		"AssociationResourceLimit",
		"AssociationTimeLimit",
		"QOSJobLimit",
		"QOSResourceLimit",
		"QOSTimeLimit",
		"AssocMaxJobsLimit",
		"AssocMaxSubmitJobLimit",
		"AssocGrpBBMinutes",
		"MaxJobsPerAccount",
		"MaxNodeRunMinsPerUser",
	};
	char words[OSP_WAITING_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct osp_waiting waiting = job;

		waiting.reason = reasons[i];
		osp_waiting_words(&waiting, words, sizeof(words));
		if (!*words || strstr(words, "Slurm's reason is"))
			fail_msg("%s: %s", reasons[i], words);
	}
}

/* What is not known leaves no empty brackets. */
static void little_known(void **state)
{
	struct osp_waiting waiting = {.reason = "Dependency"};
	char words[OSP_WAITING_BYTES];

	(void)state;
	assert_string_equal(osp_waiting_words(&waiting, words, sizeof(words)),
			    "it depends on other jobs");
	waiting.reason = "JobHeldUser";
	assert_string_equal(osp_waiting_words(&waiting, words, sizeof(words)),
			    "it is held by its owner; 'scontrol release JOB' ends that");
	waiting = (struct osp_waiting){.reason = "BeginTime", .begin = "noon", .requeued = true};
	assert_string_equal(osp_waiting_words(&waiting, words, sizeof(words)),
			    "it was requeued, and may begin again at noon");
}

static void features(void **state)
{
	static const struct {
		const char *asked;
		const char *has;
		bool met;
	} rows[] = {
		{NULL, NULL, true},	 {"", "a", true},
		{"a", "a", true},	 {"a", "b,a", true},
		{"a", "ab,ba", false},	 {"a", NULL, false},
		{"a&b", "a,b", true},	 {"a&b", "a", false},
		{"a,b", "a", false},	 {"a|b", "b", true},
		{"a|b&c", "a", false}, /* from the left, as Slurm has it */
		{"a|(b&c)", "a", true},	 {"(a|b)&c", "b,c", true},
		{"(a|b)&c", "b", false}, {"[a|b]", "b", true},
		{"[a|b]", "c", false},	 {"[a*2&b*2]", "b", true},
		{"a*4", "a", true},	 {"a*4", "b", false},
		{"(a", "b", true}, /* Slurm's to judge */
		{"a&", "b", true},	 {"((((((((((a))))))))))", "b", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (osp_features_match(rows[i].asked, rows[i].has) != rows[i].met)
			fail_msg("%s of %s", rows[i].asked, rows[i].has);
	}
}

static void a_gang_waits_for_its_build(void **state)
{
	static const char *const reasons[] = {
		"Licenses", "License request 'onespine:2' is no longer valid, holding job"};
	struct osp_waiting gang = {.job = "12", .licenses = "onespine:2"};
	char words[OSP_WAITING_BYTES];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		gang.reason = reasons[i];
		assert_string_equal(osp_waiting_words(&gang, words, sizeof(words)),
				    "Slurm was updated and Onespine was not: gangs wait until the "
				    "build for this Slurm is installed");
	}
	gang.reason = "Licenses";
	gang.licenses = "matlab:2,onespine:2";
	assert_string_equal(osp_waiting_words(&gang, words, sizeof(words)),
			    "too few licenses are free (matlab:2,onespine:2)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test(each_reason),
		cmocka_unit_test(a_gang_waits_for_its_build),
		cmocka_unit_test(little_known),
		cmocka_unit_test(features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
