/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passive.h - the checks of the passive depth, one file a family
 *
 * For list.c, which sets their order.
 */
#ifndef OSP_PASSIVE_H
#define OSP_PASSIVE_H

#include "check/check.h"

/* passive_gpu.c */
extern const struct osp_check osp_check_driver;
extern const struct osp_check osp_check_gpus;
extern const struct osp_check osp_check_device_files;
/* passive_memory.c */
extern const struct osp_check osp_check_ecc;
extern const struct osp_check osp_check_row_remap;
extern const struct osp_check osp_check_retired_pages;
/* passive_state.c */
extern const struct osp_check osp_check_recovery;
extern const struct osp_check osp_check_throttle;
extern const struct osp_check osp_check_temperature;
extern const struct osp_check osp_check_persistence;
/* passive_power.c */
extern const struct osp_check osp_check_power;
extern const struct osp_check osp_check_clocks;
extern const struct osp_check osp_check_leftovers;
/* passive_disk.c */
extern const struct osp_check osp_check_local_disks;
extern const struct osp_check osp_check_huge_pages;
/* passive_versions.c */
extern const struct osp_check osp_check_versions;
/* passive_link.c */
extern const struct osp_check osp_check_nvlink;
extern const struct osp_check osp_check_nvlink_errors;
/* passive_fabric.c */
extern const struct osp_check osp_check_fabric;
/* passive_imex.c */
extern const struct osp_check osp_check_imex;
/* passive_pcie.c */
extern const struct osp_check osp_check_pcie;
/* passive_xid.c */
extern const struct osp_check osp_check_xid;
/* passive_network.c */
extern const struct osp_check osp_check_efa;
extern const struct osp_check osp_check_infiniband;
extern const struct osp_check osp_check_rdma_module;
/* passive_accelerator.c */
extern const struct osp_check osp_check_neuron;
extern const struct osp_check osp_check_amd;
/* passive_host.c */
extern const struct osp_check osp_check_cpu;
extern const struct osp_check osp_check_numa;
extern const struct osp_check osp_check_memory;
extern const struct osp_check osp_check_limits;
extern const struct osp_check osp_check_clock;
extern const struct osp_check osp_check_uvm_module;
/* passive_mounts.c */
extern const struct osp_check osp_check_mounts;
extern const struct osp_check osp_check_space;

#endif
