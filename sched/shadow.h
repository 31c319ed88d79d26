/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.h - the parts of the enforcing shadow of select/cons_tres and what they share
 *
 *	select_cons_tres.c	what Slurm calls; decides whether a call is a gang's at all
 *
 *	shadow_state.h		what is in force:
 *	shadow_state.c		topology and policy, laid over Slurm's nodes
 *	shadow_files.c		their files, read at start and on reconfigure; copies of good ones
 *	shadow_follow.c		threads: for a changed topology, and for gangs that wait for nodes
 *	shadow_layout.c		are Slurm's records as this build's headers say?
 *	shadow_readback.c	does Slurm read each field where this build writes it?
 *	shadow_nodes.c		Slurm's node table as sets: free, to be booted, weight, kind
 *	shadow_places.c		which nodes' places may be old
 *	shadow_count.[ch]	what running jobs hold of each node, counted along with them
 *	shadow_rows.c		which of them Slurm's plugin counts
 *
 *	shadow_request.h	what a job asks for and is held to:
 *	shadow_request.c	its own request and the policy's promise
 *	shadow_license.c	the license that holds gangs where nothing enforces
 *	shadow_extra.c		nodes that --extra excludes
 *	shadow_leave.c		how long a job that ends is waited for
 *
 *	shadow_gang.h		one gang:
 *	shadow_gang.c		its size, its nodes and its part of AdminComment
 *	shadow_gpus.c		nodes whose GPUs Slurm has counted but not chosen
 *	shadow_parts.c		segments, or several domains
 *	shadow_groups.c		a layout's parallel groups, made into such segments
 *	shadow_order.c		the order of its nodes, once it starts
 *	shadow_processes.c	what its processes find in their environment
 *	shadow_moved.c		running gangs whose nodes have other places by now
 *	shadow_launch.[ch]	gangs on nodes that are launched for them
 *	shadow_launch_failed.c	what becomes of the nodes of a launch in vain
 *
 *	shadow_call.h		one call for a gang:
 *	shadow_promise.c	gangs that are looked at first, before they are placed
 *	shadow_components.c	components of a heterogeneous job, which are placed one by one
 *	shadow_plans.c		where backfill has planned such components
 *	shadow_choose.c		what lib/choose asks and decides, in Slurm's words
 *	shadow_try.c		one call of Slurm's own function, undone when it fails
 *	shadow_one.c		such calls for jobs of one node, whose amounts Slurm adds up
 *	shadow_stopped.c	where such calls stopped, for the next ones
 *	shadow_memory.c		what one call remembers for the next ones
 *
 *	shadow_seam.c		what job_submit asks (seam.h)
 *	shadow_could.[ch]	where a job could ever run
 *
 * All of it runs in slurmctld. Except for the seam and the thread every function here is called
 * with Slurm's node lock held, for writing or (by sched/builtin's one thread) for reading, so
 * static state needs no lock of its own; what the seam and the thread read is behind shadow_lock.
 * Code that needs both takes Slurm's first.
 */
#ifndef OSP_SHADOW_H
#define OSP_SHADOW_H

#include "sched/shadow_call.h"
#include "sched/shadow_count.h"
#include "sched/shadow_gang.h"
#include "sched/shadow_launch.h"
#include "sched/shadow_request.h"
#include "sched/shadow_state.h"

extern const struct osp_seam shadow_seam;

#endif
