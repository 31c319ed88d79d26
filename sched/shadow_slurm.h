/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_slurm.h - Slurm's internal headers, for the shadow's files alone
 *
 * slurm_xlator.h comes first: without it info(), bit_*() and others bind to names that libslurm
 * hides from programs linked with it. Data symbols are weak, because clients up to 24.11 load the
 * shadow too and have none of slurmctld's tables; functions are bound lazily (-z lazy), so they
 * need nothing.
 */
#ifndef OSP_SHADOW_SLURM_H
#define OSP_SHADOW_SLURM_H

#include "src/common/slurm_xlator.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
/* Slurm 23.11 moved it. */
#if __has_include("src/stepmgr/srun_comm.h")
#include "src/stepmgr/srun_comm.h"
#else
#include "src/slurmctld/srun_comm.h"
#endif
#include "src/common/bitstring.h"
/* For releases whose slurmctld.h does not declare job_feature_t. */
#if __has_include("src/common/job_features.h")
#include "src/common/job_features.h"
#endif
#include "src/common/list.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define OSP_SLURM_INTERNAL
#include "host/slurm_compat.h"

/* When slurmctld took control; 0 while it stands by. No header of Slurm's names it. */
extern time_t control_time;

#pragma weak avail_node_bitmap
#pragma weak cg_node_bitmap
#pragma weak control_time
#pragma weak default_part_loc
#pragma weak idle_node_bitmap
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_node_update
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak rs_node_bitmap
#pragma weak slurmctld_config
#pragma weak slurmctld_primary

#endif
