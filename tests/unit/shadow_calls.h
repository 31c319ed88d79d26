/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_calls.h - scheduling calls put to the shadow as slurmctld puts them, on the cluster of
 * tests/fake/slurmctld.h
 *
 * Sixteen nodes: two spines of two leaves of four. Partitions: gpu (gangs that ask), held (always,
 * from 3 nodes), wide (always, from 12) and advised.
 */
#ifndef OSP_TESTS_SHADOW_CALLS_H
#define OSP_TESTS_SHADOW_CALLS_H

#include "tests/fake/slurmctld.h"

#define SHADOW_NODES 16

/* What the shadow shows to slurmctld, of which Slurm declares nothing. */
int init(void);
int fini(void);
int select_p_node_init(void);
int select_p_reconfigure(void);
int select_p_job_begin(job_record_t *job);
osp_job_test_f select_p_job_test;

/* What the next question comes with, and what it leaves. */
struct shadow_asked {
	bitstr_t *bitmap;
	osp_list_t *candidates;
	osp_list_t *preempted;
	time_t now; /* when the test began */
};

extern struct shadow_asked asked;

/* Setup and teardown of a test. */
int shadow_calls_begin(void **state);
int shadow_calls_end(void **state);

/* A pending job with --gang=OPTION; one in another partition. */
job_record_t *gang(uint32_t id, uint32_t nodes, const char *option);
job_record_t *job_in(uint32_t id, uint32_t nodes, const char *partition);

/* A job that holds these nodes for so long, and is counted. */
job_record_t *busy(uint32_t id, uint32_t first, uint32_t count, time_t seconds);

/* select_p_job_test() with the nodes that are idle, or for a later start or preemption all. */
int ask_range(job_record_t *job, uint32_t min_nodes, uint32_t max_nodes, uint16_t mode);
int ask(job_record_t *job, uint16_t mode);

/* The nodes of asked.bitmap, "0-3,8". */
const char *nodes_given(void);

/* The job's AdminComment has these words. */
void assert_says(const job_record_t *job, const char *words);

#endif
