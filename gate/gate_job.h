/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_job.h - the job that this Prolog is for, its gang, its policy, and where its nodes are
 *
 * All of it comes from the Prolog's environment, from root-owned files and from slurm.conf;
 * slurmctld is not asked. Of the variables that a user can set (SPANK_...), only the one that asks
 * for more depth is read. One thread.
 */
#ifndef OSP_GATE_JOB_H
#define OSP_GATE_JOB_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/base/error.h"
#include "lib/gate/gate.h"
#include "lib/gate/gate_policy.h"
#include "lib/policy/config.h"

struct osp_gate_job {
	struct osp_gate_gang gang;
	struct osp_config *config;
	const struct osp_gate_policy *policy; /* of the partition */
	enum osp_gate_depth depth; /* the policy's, or more where the user asks for it; passive at
				    * most if gang.gpus is NULL */
	bool gpus_unknown;	/* the job has GPUs here; which is not known, so all are checked */
	bool numbers_unsure;	/* Slurm has said which, by numbers that may be of other GPUs */
	char config_file[4096]; /* "" if there is none */
	struct osp_error refused; /* why it is not in force; "" = it is */
	char key_file[4096];	  /* of the keys that seal messages; "": MUNGE does */
	char munge_socket[108];	  /* "" for MUNGE's own default */
	char node[OSP_GATE_NAME_BYTES];
	bool clustermgtd;   /* it ends the instances of drained nodes (lib/conf/clustermgtd.h) */
	const char *placed; /* lib/topology/placed_instance.h; NULL: not said */
	char **names;	    /* gang.nodes */
	const char *root;   /* "" or, in tests, a folder that is used as / */
};

/* Reads the environment. 0, or -1 with `error` set: then the job is not known, or a file is
 * refused. Free it with osp_gate_job_free() in either case. */
int osp_gate_job_read(struct osp_gate_job *job, struct osp_error *error);
void osp_gate_job_free(struct osp_gate_job *job);

/* Reads what does not depend on a job: root, node, config, config_file, refused, munge_socket.
 * Returns 0, or -1 with `error` set. Free it with osp_gate_job_free() in either case. */
int osp_gate_node_read(struct osp_gate_job *job, struct osp_error *error);

/* Returns whether this node has to be checked for this job at all. */
bool osp_gate_job_wanted(const struct osp_gate_job *job);

/* Returns whether it need not be because the job has no GPUs here, which nobody has said of a node
 * that has GPUs by slurm.conf (gate_gpus.h). */
bool osp_gate_job_unsaid(const struct osp_gate_job *job);

/* Finds the address of a node as slurm.conf says (NodeAddr), or else by its name; its port is 0.
 * -1 with `error` set. */
int osp_gate_address(const char *node, struct sockaddr_storage *address, struct osp_error *error);

#define OSP_GATE_CONTROLLERS_MAX 8

struct osp_gate_controller {
	char host[256];
	struct sockaddr_storage address; /* its port is 0 */
	int state;			 /* getaddrinfo()'s answer; 0: `address` is known */
};

/* Lists the hosts of slurmctld, as slurm.conf has them. Returns how many. */
uint32_t osp_gate_controllers(struct osp_gate_controller *list, uint32_t most);

/* Returns SlurmUser's number; root's if it is not known. */
uid_t osp_gate_slurm_user(void);

#endif
