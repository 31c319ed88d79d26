/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - a process gives up all but reading
 *
 * For a child that reads files which a user wrote or named. Whoever takes it over by them can read
 * what it could read before, and nothing else: start no program, write no file, open no socket,
 * signal nobody.
 */
#ifndef OSP_CONFINE_H
#define OSP_CONFINE_H

/* What holds from now on. */
enum osp_confined {
	OSP_CONFINED_NO_NEW_PRIVS = 1 << 0,
	OSP_CONFINED_LANDLOCK = 1 << 1, /* Linux 5.13 and later where it is turned on */
	OSP_CONFINED_SECCOMP = 1 << 2,	/* on x86-64 and AArch64 */
};

/*
 * Sets no_new_privs; forbids by Landlock, where the kernel has it, every change of files, execution
 * and, from Linux 6.7 on, TCP; allows by seccomp only the system calls that open files and folders
 * for reading, read them, write to what is open, ask for memory and the time, and end the process.
 * Any other call fails with EPERM. For a process of one thread, in that process alone, for ever.
 * Returns which of enum osp_confined hold.
 */
unsigned int osp_confine_to_reading(void);

/*
 * For a child that needs more of the system than that, and still changes nothing: sets
 * no_new_privs; leaves of root's capabilities those to read any file, other processes' /proc and
 * the kernel's log; and allows by seccomp, beside reading, to look at file systems, ids, limits and
 * the clock, to have children, and to signal: kill() stays, for children of the same kind, and with
 * it whatever runs under the same uid. Any other call fails with EPERM, one that is newer than the
 * list with ENOSYS. Opening for writing and new namespaces fail. For ever, and for its children
 * too. Returns which of enum osp_confined hold.
 */
unsigned int osp_confine_from_changes(void);

/*
 * For a child of root that drives devices by their vendor's libraries, which open them for writing,
 * start programs (nvidia-modprobe, modprobe) and reach the network: sets no_new_privs, and refuses
 * by seccomp (EPERM) what none of these needs: to trace and write into other processes, mount,
 * enter or make namespaces, open files by handles, load kernels and BPF, remove modules, restart,
 * swap, account, name the machine or set its clock, and keyrings, userfaultfd and io_uring. Not a
 * sandbox: files, modules and devices stay root's. For ever, and for its children too. Returns
 * which of enum osp_confined hold.
 */
unsigned int osp_confine_from_ruling(void);

#endif
