/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment.h - reads a process's environment
 *
 * Pure; any thread.
 */
#ifndef OSP_ENVIRONMENT_H
#define OSP_ENVIRONMENT_H

/* Returns the value of `name` in an environment ("NAME=value", ended by NULL), or NULL. */
const char *osp_environment_value(char *const *environment, const char *name);

#endif
