/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - where the programs of this installation are, for a program that executes another
 *
 * Any thread.
 */
#ifndef OSP_PROGRAM_H
#define OSP_PROGRAM_H

#define OSP_PROGRAM_BYTES 4096

/*
 * Finds `name`: beside the running program if it is there (a build folder), else in `folder`, where
 * it is installed. Returns `path`, which has room for OSP_PROGRAM_BYTES; a path that is longer is
 * cut and names no file.
 */
const char *osp_program_path(const char *name, const char *folder, char *path);

#endif
