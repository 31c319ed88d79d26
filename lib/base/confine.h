/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - a process gives up every right but reading
 *
 * For a child that reads files which a user wrote or named. An attacker who takes the child over
 * through such a file can read what the child could read, and nothing else: it cannot start a
 * program, write a file, open a socket or signal a process.
 */
#ifndef OSP_CONFINE_H
#define OSP_CONFINE_H

/* The restrictions that are now in force. */
enum osp_confined {
	OSP_CONFINED_NO_NEW_PRIVS = 1 << 0,
	OSP_CONFINED_LANDLOCK = 1 << 1, /* Linux 5.13 and later, if it is enabled */
	OSP_CONFINED_SECCOMP = 1 << 2,	/* on x86-64 and AArch64 */
};

/*
 * Confines the calling process to reading, for ever. It must have one thread. Sets no_new_privs;
 * forbids by Landlock, if the kernel has it, every change of files, execution and, from Linux 6.7
 * on, TCP; allows by seccomp only the system calls that open files and folders for reading, read
 * them, write to open files, ask for memory and the time, and end the process. Any other call fails
 * with EPERM. Returns the set of enum osp_confined in force.
 */
unsigned int osp_confine_to_reading(void);

/*
 * Confines a child that needs more of the system but changes nothing, and its own children, for
 * ever. Sets no_new_privs; keeps only those of root's capabilities that read any file, other
 * processes' /proc and the kernel's log; allows by seccomp, besides reading, calls that look at
 * file systems, ids, limits and the clock, have children, and signal: kill() stays allowed, for
 * children of the same kind, and thereby reaches whatever runs under the same uid. Any other call
 * fails with EPERM, one newer than the list with ENOSYS. Opening for writing and new namespaces
 * fail. Returns the set of enum osp_confined in force.
 */
unsigned int osp_confine_from_changes(void);

/*
 * Confines a child of root that drives devices by their vendor's libraries, and its own children,
 * for ever. These libraries open devices for writing, start programs (nvidia-modprobe, modprobe)
 * and reach the network. Sets no_new_privs and refuses by seccomp (EPERM) calls that none needs:
 * tracing and writing into other processes, mounts, entering or making namespaces, opening files by
 * handles, loading kernels and BPF, removing modules, restarts, swap, accounting, the machine's
 * name and clock, keyrings, userfaultfd and io_uring. This is not a sandbox: root's rights on
 * files, modules and devices remain. Returns the set of enum osp_confined in force.
 */
unsigned int osp_confine_from_ruling(void);

#endif
