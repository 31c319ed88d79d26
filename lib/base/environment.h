/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment.h - a process's environment, read
 *
 * Pure; any thread.
 */
#ifndef OSP_ENVIRONMENT_H
#define OSP_ENVIRONMENT_H

/* The value of `name` in an environment ("NAME=value", ended by NULL), or NULL. */
const char *osp_environment_value(char *const *environment, const char *name);

#endif
