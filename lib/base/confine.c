/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confine.c - a process gives up every right but reading */
#include "lib/base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sets no_new_privs: no program that this process starts gets more rights than the process has.
 * Returns 0, or -1 with errno set. */
static int drop_rights(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* --- Landlock --------------------------------------------------------------------------------- */

/* The kernel's numbers, the same on every architecture; older headers lack them. */
#define LANDLOCK_CREATE	      444
#define LANDLOCK_RESTRICT     446
#define LANDLOCK_ASK_VERSION  1u
#define LANDLOCK_READ_FILE    (UINT64_C(1) << 2)
#define LANDLOCK_READ_FOLDER  (UINT64_C(1) << 3)
#define LANDLOCK_TCP	      UINT64_C(3)
#define LANDLOCK_NET_VERSION  4
#define LANDLOCK_NEWEST_RIGHT 16

struct landlock_rules {
	uint64_t files, network;
};

/* Returns the number of rights on files that a version of Landlock knows: up to
 * LANDLOCK_ACCESS_FS_MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV. */
static unsigned int rights_of(long version)
{
	static const unsigned int counts[] = {0, 13, 14, 15, 15, LANDLOCK_NEWEST_RIGHT};

	return version < (long)COUNT(counts) ? counts[version] : LANDLOCK_NEWEST_RIGHT;
}

/* Enforces a set of rules that forbids every right but reading, and grants none back. */
static int forbid_by_landlock(void)
{
	struct landlock_rules rules = {0};
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_ASK_VERSION), file;
	int state;

	if (version < 1)
		return -1;
	rules.files = ((UINT64_C(1) << rights_of(version)) - 1) &
		      ~(LANDLOCK_READ_FILE | LANDLOCK_READ_FOLDER);
	if (version >= LANDLOCK_NET_VERSION)
		rules.network = LANDLOCK_TCP;
	file = syscall(LANDLOCK_CREATE, &rules, rules.network ? sizeof(rules) : sizeof(rules.files),
		       0);
	if (file < 0)
		return -1;
	state = (int)syscall(LANDLOCK_RESTRICT, (int)file, 0);
	close((int)file);
	return state;
}

/* --- seccomp ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

/* Calls added since Linux 5.0 have the same number on every architecture; older headers lack some
 * of them. */
#ifndef __NR_io_uring_setup
#define __NR_io_uring_setup 425
#endif
#ifndef __NR_open_tree
#define __NR_open_tree	428
#define __NR_move_mount 429
#define __NR_fsopen	430
#define __NR_fsconfig	431
#define __NR_fsmount	432
#define __NR_fspick	433
#endif
#ifndef __NR_clone3
#define __NR_clone3 435
#endif
#ifndef __NR_close_range
#define __NR_close_range 436
#endif
#ifndef __NR_faccessat2
#define __NR_faccessat2 439
#endif
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_rseq
#ifdef __x86_64__
#define __NR_rseq 334
#else
#define __NR_rseq 293
#endif
#endif

/* For a call newer than this list, libraries get the answer that the kernel has none, and fall back
 * on an older one. */
#define NEWEST_CALL    469

#define FIELD(name)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define REFUSE	       ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN	       ANSWER(SECCOMP_RET_ERRNO | ENOSYS)
#define IF(call)       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1)
#define ALLOW(call)    IF(call), ANSWER(SECCOMP_RET_ALLOW)
#define DENY(call)     IF(call), REFUSE

/* The lower half of an argument comes first on both architectures. */
#define LOW_HALF(argument) FIELD(args[argument])
/* Allows a call whose argument has none of these bits. */
#define ALLOW_BUT(call, argument, bits)                                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), LOW_HALF(argument),                \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), REFUSE,                          \
		ANSWER(SECCOMP_RET_ALLOW)
#define WRITES	   (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
#define NAMESPACES 0x7e020000 /* every CLONE_NEW... that clone() accepts */

/* One program for one architecture; x32's calls have other numbers, above the newest. */
#define BEGIN                                                                                      \
	FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0), REFUSE,          \
		FIELD(nr), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1), UNKNOWN

#ifdef __NR_stat
#define ALLOW_OLD_LOOKS	     ALLOW(stat), ALLOW(lstat), ALLOW(access),
#define ALLOW_OLD_CHILD_WORK ALLOW(fork), ALLOW(pipe), ALLOW(dup2), ALLOW(poll), ALLOW(readlink),
#else
#define ALLOW_OLD_LOOKS
#define ALLOW_OLD_CHILD_WORK
#endif

/* Opening files and folders for reading, reading them, writing to open files, memory, the time, the
 * end. */
#define ALLOW_READING                                                                              \
	ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(lseek), ALLOW(pread64), ALLOW(fstat),       \
		ALLOW(newfstatat), ALLOW(statx), ALLOW_OLD_LOOKS ALLOW(faccessat),                 \
		ALLOW(faccessat2), ALLOW(fcntl), ALLOW(getdents64), ALLOW(brk), ALLOW(mmap),       \
		ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(futex),       \
		ALLOW(clock_gettime), ALLOW(rt_sigreturn), ALLOW(exit), ALLOW(exit_group),         \
		ALLOW_BUT(openat, 2, WRITES)

static int begin_filter(struct sock_filter *filter, size_t count)
{
	const struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static struct sock_filter reading[] = {BEGIN, ALLOW_READING, REFUSE};

static int filter_calls(void)
{
	return begin_filter(reading, COUNT(reading));
}

static struct sock_filter looking[] = {
	BEGIN,
	ALLOW_READING,
	/* other calls that only look */
	ALLOW(readv),
	ALLOW(readlinkat),
	ALLOW(statfs),
	ALLOW(fstatfs),
	ALLOW(getcwd),
	ALLOW(uname),
	ALLOW(sysinfo),
	ALLOW(adjtimex),
	ALLOW(clock_adjtime), /* only reads the clock without CAP_SYS_TIME */
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(times),
	ALLOW(getrusage),
	ALLOW(getrandom),
	ALLOW(sched_getaffinity),
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(gettid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	/* children, and waiting for them */
	ALLOW_OLD_CHILD_WORK ALLOW_BUT(clone, 0, NAMESPACES),
	IF(clone3),
	UNKNOWN, /* its flags are in memory; libraries fall back on clone */
	ALLOW(wait4),
	ALLOW(waitid),
	ALLOW(kill),
	ALLOW(tgkill),
	ALLOW(pipe2),
	ALLOW(dup),
	ALLOW(dup3),
	ALLOW(ppoll),
	ALLOW(nanosleep),
	ALLOW(clock_nanosleep),
	ALLOW(sched_yield),
	ALLOW(restart_syscall),
	ALLOW(close_range),
	/* calls that affect only the process itself */
	ALLOW(prctl),
	ALLOW(prlimit64),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(sigaltstack),
	ALLOW(set_tid_address),
	ALLOW(set_robust_list),
	ALLOW(rseq),
	REFUSE,
};

static int filter_changes(void)
{
	return begin_filter(looking, COUNT(looking));
}

/* Drivers' libraries need most of the system, start programs and load modules, so calls that none
 * of them needs are denied. */
static struct sock_filter driving[] = {
	FIELD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
	REFUSE,
	FIELD(nr),
#ifdef __x86_64__
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* x32 */
	UNKNOWN,
	DENY(iopl),
	DENY(ioperm),
	DENY(modify_ldt),
#endif
	/* other processes */
	DENY(ptrace),
	DENY(process_vm_writev),
	/* mounts, and files by handle */
	DENY(mount),
	DENY(umount2),
	DENY(pivot_root),
	DENY(chroot),
	DENY(open_tree),
	DENY(move_mount),
	DENY(fsopen),
	DENY(fsconfig),
	DENY(fsmount),
	DENY(fspick),
	DENY(mount_setattr),
	DENY(open_by_handle_at),
	DENY(setns),
	DENY(unshare),
	/* the machine */
	DENY(reboot),
	DENY(kexec_load),
	DENY(kexec_file_load),
	DENY(delete_module),
	DENY(swapon),
	DENY(swapoff),
	DENY(acct),
	DENY(quotactl),
	DENY(sethostname),
	DENY(setdomainname),
	DENY(settimeofday),
	DENY(clock_settime),
	/* other doors to the kernel */
	DENY(bpf),
	DENY(perf_event_open),
	DENY(userfaultfd),
	DENY(io_uring_setup),
	DENY(add_key),
	DENY(request_key),
	DENY(keyctl),
	ANSWER(SECCOMP_RET_ALLOW),
};

static int filter_ruling(void)
{
	return begin_filter(driving, COUNT(driving));
}

#else

static int filter_calls(void)
{
	return -1;
}

static int filter_changes(void)
{
	return -1;
}

static int filter_ruling(void)
{
	return -1;
}

#endif

/* --- capabilities ----------------------------------------------------------------------------- */

/* Drops all capabilities but those to read others' files, the /proc of other processes, and the
 * kernel's log. */
static void drop_capabilities(void)
{
	static const uint32_t kept[] = {1u << CAP_DAC_READ_SEARCH | 1u << CAP_SYS_PTRACE,
					1u << (CAP_SYSLOG - 32)};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets))
		return;
	for (size_t i = 0; i < COUNT(sets); i++) {
		sets[i].effective &= kept[i];
		sets[i].permitted &= kept[i];
		sets[i].inheritable = 0;
	}
	(void)syscall(SYS_capset, &header, sets);
}

unsigned int osp_confine_from_changes(void)
{
	unsigned int held = 0;

	if (drop_rights())
		return 0;
	held |= OSP_CONFINED_NO_NEW_PRIVS;
	drop_capabilities();
	if (!filter_changes())
		held |= OSP_CONFINED_SECCOMP;
	return held;
}

unsigned int osp_confine_from_ruling(void)
{
	unsigned int held = 0;

	if (drop_rights())
		return 0;
	held |= OSP_CONFINED_NO_NEW_PRIVS;
	if (!filter_ruling())
		held |= OSP_CONFINED_SECCOMP;
	return held;
}

unsigned int osp_confine_to_reading(void)
{
	unsigned int held = 0;

	if (drop_rights())
		return 0; /* the others require it */
	held |= OSP_CONFINED_NO_NEW_PRIVS;
	if (!forbid_by_landlock())
		held |= OSP_CONFINED_LANDLOCK;
	if (!filter_calls())
		held |= OSP_CONFINED_SECCOMP;
	return held;
}
