/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uvm.h - makes /dev/nvidia-uvm, without which no CUDA program starts
 *
 * The driver does not make this file. nvidia-modprobe does, a set-user-id program that libcuda runs
 * if the file is missing. A process that may gain no rights (the gate's, as nobody) cannot have it
 * made, so root makes it first. One thread.
 */
#ifndef OSP_UVM_H
#define OSP_UVM_H

#include <stdbool.h>

/*
 * Makes ROOT/dev/nvidia-uvm (minor 0) and ROOT/dev/nvidia-uvm-tools (minor 1), readable and
 * writable for all, if the module is loaded (/proc/devices has its number). Leaves existing files
 * unchanged. Returns true if ROOT/dev/nvidia-uvm exists afterwards.
 */
bool osp_uvm_make(const char *root);

#endif
