/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.h - the gate's types: the gang, a node's report, the gang's verdict
 *
 * The gate runs between a job's allocation and its first user process. On each node of the gang
 * Slurm's Prolog runs `onespine-gate prolog` as root:
 *
 *	gang	   the job and its nodes, in Slurm's order; rank 0 is the batch host
 *	check	   this node's checks, or an earlier pass that is still fresh
 *	report	   goes up a tree of nodes (lib/gate/gate_tree.h) to the decider, which is rank 0
 *		   or, if rank 0 does not answer, its first deputy that does
 *	verdict	   the decider decides (lib/gate/gate_verdict.h), takes the actions that must
 *		   happen before a Prolog ends, and sends the verdict to all nodes
 *	end	   every node's Prolog returns 0; then the decider takes the remaining actions
 *
 * Rank r is the position of a node in the gang's list, from 0.
 *
 * These are plain values; the owner of a value owns its strings. Any thread, any daemon.
 */
#ifndef OSP_GATE_H
#define OSP_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/health/verdict.h"

/* The largest gang that passes one gate, and the longest words about it. */
#define OSP_GATE_NODES_MAX     16384
#define OSP_GATE_NAME_BYTES    64  /* a node's name in a message, terminated */
#define OSP_GATE_CHECK_BYTES   32  /* a check's name */
#define OSP_GATE_REASON_BYTES  200 /* a reason for Slurm, terminated */
#define OSP_GATE_BOOT_BYTES    40  /* /proc/sys/kernel/random/boot_id and its end */

#define OSP_GATE_NETWORK_CHECK "network" /* the name of the test between the nodes */
/* An ERROR of this name: the node is another instance than the one that the gang was placed on. */
#define OSP_GATE_INSTANCE_CHECK "instance"

#define OSP_GATE_NOBODY		UINT32_MAX /* no rank */

/* The decider's judgement of a node's network speed. Slowness alone never drains a node: anybody
 * can send it packets and thus make it slow, and no counter of the node shows congestion beyond its
 * adapter. */
enum osp_gate_pace {
	OSP_GATE_PACE_WELL,   /* or not measured */
	OSP_GATE_PACE_UNSURE, /* it looked slow, but other traffic there explains it */
	OSP_GATE_PACE_SLOW,   /* bad with two partners that are good with others */
};

/* One node's report. A silent node has only its rank and its result. */
struct osp_gate_report {
	uint32_t rank;
	enum osp_verdict result;
	bool absent; /* no gate runs there, since the job has no GPUs on it; set by the decider,
			with SKIP */
	bool fresh;  /* an earlier pass counts, and no check ran now */
	bool blamed; /* the network test blames this node: wrong bytes with two partners */
	enum osp_gate_pace pace; /* set by the decider, never sent */
	uint32_t time_ms;	 /* duration of its own check */
	float speed; /* relative to the gang's median, 1.0 = the median; 0 = not measured */
	/* These three are of the gravest result, "" if there is none: */
	char check[OSP_GATE_CHECK_BYTES];   /* "ecc" */
	char reason[OSP_GATE_REASON_BYTES]; /* "onespine: gpu3 ecc 12 uncorrectable > 0; replace" */
	char boot[OSP_GATE_BOOT_BYTES];	    /* boot id, which differs after a reboot */
};

/* The job as its Prolog knows it, without asking slurmctld. */
struct osp_gate_gang {
	uint32_t job;	   /* SLURM_JOB_ID; of a heterogeneous job, the component's */
	uint32_t het_job;  /* SLURM_HET_JOB_ID; 0 = none */
	uint32_t restarts; /* SLURM_JOB_RESTART_COUNT */
	uint32_t uid;
	const char *partition;
	const char *const *nodes; /* node_count names, in Slurm's order */
	uint32_t node_count;
	uint32_t rank;		 /* this node's */
	uint32_t wanted;	 /* nodes that the job asked for; node_count less the spares */
	uint32_t spares;	 /* nodes beyond those, to be released if enough are good */
	uint32_t segment_spares; /* as many of these in each segment; 0: they lie anywhere */
	const char *segments;	 /* lib/layout/gang_segments.h; NULL: not known */
	const char *gpus; /* SLURM_JOB_GPUS: those of this node; NULL: the job has none here */
};

/* The decision about the gang. */
enum osp_gate_kind {
	OSP_GATE_GO,	  /* the job starts, on all its nodes */
	OSP_GATE_SHRINK,  /* the job starts without the nodes that are released */
	OSP_GATE_REQUEUE, /* the job starts again elsewhere */
	OSP_GATE_HOLD,	  /* requeued, and held with the reason */
	OSP_GATE_END,	  /* the job ends, with the reason, because it cannot be requeued */
	OSP_GATE_KIND_COUNT
};

/* The decision about one node, as bits. */
enum osp_gate_action {
	OSP_GATE_KEEP = 0,
	OSP_GATE_RELEASE = 1, /* the job does without it */
	OSP_GATE_DRAIN = 2,   /* it is drained with its reason */
	OSP_GATE_COMMENT = 4, /* it would have been drained; only a comment is written */
	OSP_GATE_SUSPECT = 8, /* this job does not get it again, and it is checked again */
};

/* A node that the verdict names, with the actions and the words about it. */
struct osp_gate_sentence {
	uint32_t rank;
	uint32_t actions; /* enum osp_gate_action, or-ed */
	enum osp_verdict result;
	char check[OSP_GATE_CHECK_BYTES];
	char reason[OSP_GATE_REASON_BYTES]; /* for Slurm if the node is drained, else for people */
};

struct osp_gate_verdict {
	enum osp_gate_kind kind;
	uint32_t decider;		  /* its rank */
	bool breaker;			  /* too many are drained already: nobody is drained now */
	bool slow;			  /* a start is stopped, in part because of slowness */
	char says[OSP_GATE_REASON_BYTES]; /* a line for people, "" if all is well */
	struct osp_gate_sentence
		*sentences; /* by rank; only nodes with something to say or to do */
	uint32_t sentence_count;
};

/* Names a kind: "go" ...; "?" if it is none. */
const char *osp_gate_kind_name(enum osp_gate_kind kind);

/* Returns the sentence about `rank`, or NULL if the node is kept and there is nothing to say. */
const struct osp_gate_sentence *osp_gate_sentence(const struct osp_gate_verdict *verdict,
						  uint32_t rank);

/* Frees the sentences. */
void osp_gate_verdict_free(struct osp_gate_verdict *verdict);

#endif
