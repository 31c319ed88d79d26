/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_unsafe.h - finds requests that end slurmctld, or hold it up, in Slurm's own code
 *
 * sbatch, salloc and srun send only the second (--nodes=0-4); a client of a user's own, or
 * slurmrestd, may send both. Each was run on Slurm 22.05.8 without Onespine. Of 25.11.7 the
 * divisions and the tests for 0 nodes were only read, of 26.05.3 one division:
 *
 * - ntasks_per_socket 0 is a divisor (SIGFPE) in select/cons_tres (_socks_per_node(), for a job of
 *   more than one CPU a node) and in gres_job_state_validate() (--gpus-per-socket), which a change
 *   reaches too, before Slurm asks who may change that field;
 * - a least number of 0 nodes with another largest: backfill starts such a job on no nodes, and
 *   slurmctld dies as it saves it (SIGSEGV in pack_job_resources()). 0 nodes in all, for burst
 *   buffers, have a path of their own in Slurm, and are none of these.
 *
 * - a list of nodes that names more than there are: Slurm takes them off a list one by one, moves
 *   the rest each time, and logs each that it does not know, with all jobs locked
 *   (node_name2bitmap()). On 22.05.8 400 KB of one wrong name took 3 s, and 3 MB over a minute.
 *   No word of a list that is no name ends that, in any release; so a list with brackets that
 *   cannot be counted is refused too. ("],a[1-60000]b[1-60000]c[1]" makes 3.6 billion names.)
 *
 * - features (--constraint, --prefer) of over 1,024 bytes, which Slurm refuses, from 25.11 on after
 *   it has parsed them (validate_job_create_req()): 3 MB took 32 s on 25.11.7.
 *
 * Any thread: of slurmctld's state it reads how many nodes there are.
 */
#ifndef OSP_JOB_UNSAFE_H
#define OSP_JOB_UNSAFE_H

#include <stdbool.h>
#include <stddef.h>

#include <slurm/slurm.h>

/*
 * Returns whether the job, as it is submitted or changed, would end slurmctld or hold it up;
 * `sentence` then says which field does it, and the cure. `least_nodes` is what the job has now as
 * its least number of nodes, NO_VAL for a new one.
 */
bool osp_job_is_unsafe(const job_desc_msg_t *job, uint32_t least_nodes, char *sentence,
		       size_t sentence_bytes);

#endif
