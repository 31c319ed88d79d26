/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_confine.c - what a confined process still can do, and what not, each tried in a child */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/confine.h"
#include "lib/base/text.h"

/* --- what is tried: true if it worked --------------------------------------------------------- */

static bool reads_a_file(void)
{
	size_t length;
	char *text = osp_read_file("/proc/self/status", 1 << 20, &length);

	return text && strstr(text, "NoNewPrivs:\t1");
}

static bool reads_a_folder(void)
{
	DIR *folder = opendir("/");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	return count > 2 && access("/", R_OK) == 0;
}

static bool takes_memory(void)
{
	char *large = malloc((size_t)32 << 20);

	if (large)
		memset(large, 1, (size_t)32 << 20);
	return large && large[12345] == 1;
}

static bool reports_the_time(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now) == 0;
}

static bool writes_a_file(void)
{
	return open("test_confine.file", O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool changes_a_file(void)
{
	return open("/proc/self/comm", O_RDWR) >= 0;
}

static bool starts_a_program(void)
{
	char *const arguments[] = {(char *)"true", NULL};

	execv("/bin/true", arguments);
	return false;
}

static bool opens_a_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool signals_its_parent(void)
{
	return kill(getppid(), 0) == 0;
}

static bool forks(void)
{
	return fork() >= 0;
}

static bool removes_a_file(void)
{
	return unlink("/proc/self/comm") == 0 || errno != EPERM;
}

/* --- in a child ------------------------------------------------------------------------------- */

static _Noreturn void child(unsigned int (*confine)(void), bool (*attempt)(void))
{
	unsigned int held = confine();

	/* not by _exit(), in which AddressSanitizer asks for what the filter refuses, and ends with
	 * 1 */
	if (!(held & OSP_CONFINED_NO_NEW_PRIVS))
		syscall(SYS_exit_group, 2);
	if (!(held & OSP_CONFINED_SECCOMP))
		syscall(SYS_exit_group, 3);
	syscall(SYS_exit_group, attempt() ? 1 : 0);
	abort();
}

/* 1: it worked, 0: it did not, 3: no filters in this kernel */
static int attempt_confined(unsigned int (*confine)(void), bool (*attempt)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		child(confine, attempt);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void reading_goes_on(void **state)
{
	static bool (*const attempts[])(void) = {reads_a_file, reads_a_folder, takes_memory,
						 reports_the_time};

	(void)state;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int worked = attempt_confined(osp_confine_to_reading, attempts[i]);

		if (worked == 3)
			skip();
		assert_int_equal(worked, 1);
	}
}

static void nothing_else_does(void **state)
{
	static bool (*const attempts[])(void) = {
		writes_a_file,	    changes_a_file, starts_a_program, opens_a_socket,
		signals_its_parent, forks,	    removes_a_file};

	(void)state;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int worked = attempt_confined(osp_confine_to_reading, attempts[i]);

		if (worked == 3)
			skip();
		if (worked)
			print_message("attempt %zu: %d\n", i, worked);
		assert_int_equal(worked, 0);
	}
	assert_int_equal(access("test_confine.file", F_OK), -1);
}

static bool reaches_the_network(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0 || errno != EPERM;
}

static bool makes_a_folder(void)
{
	return mkdir("test_confine.folder", 0700) == 0 || errno != EPERM;
}

static bool makes_a_namespace(void)
{
	return syscall(SYS_unshare, 0) == 0;
}

static bool opens_for_writing(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR) >= 0;
}

static bool waits_for_a_child(void)
{
	pid_t pid = fork();

	if (!pid)
		syscall(SYS_exit_group, 0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static void looking_goes_on_where_changes_do_not(void **state)
{
	static bool (*const work[])(void) = {reads_a_file, reads_a_folder, takes_memory,
					     reports_the_time, waits_for_a_child};
	static bool (*const none[])(void) = {
		writes_a_file,	   changes_a_file, starts_a_program,  removes_a_file,
		opens_for_writing, makes_a_folder, makes_a_namespace, reaches_the_network};

	(void)state;
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		int worked = attempt_confined(osp_confine_from_changes, work[i]);

		if (worked == 3)
			skip();
		assert_int_equal(worked, 1);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		int worked = attempt_confined(osp_confine_from_changes, none[i]);

		if (worked)
			print_message("attempt %zu: %d\n", i, worked);
		assert_int_equal(worked, 0);
	}
	assert_int_equal(access("test_confine.file", F_OK), -1);
	assert_int_equal(access("test_confine.folder", F_OK), -1);
}

/* --- every call by its number ----------------------------------------------------------------- */

#define CALL(name)                                                                                 \
	{                                                                                          \
#name, __NR_##name                                                                 \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NEWEST	     469

struct call {
	const char *name;
	long number;
};

/* What answers as the kernel does; with `looking` those of both lists. The rest of all numbers is
 * refused. */
static const struct call reading[] = {
	CALL(read),	    CALL(write),	 CALL(close),	   CALL(lseek),
	CALL(pread64),	    CALL(fstat),	 CALL(newfstatat), CALL(statx),
	CALL(faccessat),    {"faccessat2", 439}, CALL(fcntl),	   CALL(getdents64),
	CALL(brk),	    CALL(mmap),		 CALL(munmap),	   CALL(mremap),
	CALL(mprotect),	    CALL(madvise),	 CALL(futex),	   CALL(clock_gettime),
	CALL(rt_sigreturn), CALL(exit),		 CALL(exit_group),
#ifdef __NR_stat
	CALL(stat),	    CALL(lstat),	 CALL(access),
#endif
};

static const struct call looking[] = {
	CALL(readv),
	CALL(readlinkat),
	CALL(statfs),
	CALL(fstatfs),
	CALL(getcwd),
	CALL(uname),
	CALL(sysinfo),
	CALL(adjtimex),
	CALL(clock_adjtime),
	CALL(clock_getres),
	CALL(gettimeofday),
	CALL(times),
	CALL(getrusage),
	CALL(getrandom),
	CALL(sched_getaffinity),
	CALL(getpid),
	CALL(getppid),
	CALL(gettid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(wait4),
	CALL(waitid),
	CALL(kill),
	CALL(tgkill),
	CALL(pipe2),
	CALL(dup),
	CALL(dup3),
	CALL(ppoll),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(sched_yield),
	CALL(restart_syscall),
	{"close_range", 436},
	CALL(prctl),
	CALL(prlimit64),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(sigaltstack),
	CALL(set_tid_address),
	CALL(set_robust_list),
#ifdef __x86_64__
	{"rseq", 334},
#else
	{"rseq", 293},
#endif
#ifdef __NR_stat
	CALL(fork),
	CALL(pipe),
	CALL(dup2),
	CALL(poll),
	CALL(readlink),
#endif
};

/* What a child that drives devices is refused, */
static const struct call ruling[] = {
	CALL(ptrace),
	CALL(process_vm_writev),
	CALL(mount),
	CALL(umount2),
	CALL(pivot_root),
	CALL(chroot),
	{"open_tree", 428},
	{"move_mount", 429},
	{"fsopen", 430},
	{"fsconfig", 431},
	{"fsmount", 432},
	{"fspick", 433},
	{"mount_setattr", 442},
	CALL(open_by_handle_at),
	CALL(setns),
	CALL(unshare),
	CALL(reboot),
	CALL(kexec_load),
	CALL(kexec_file_load),
	CALL(delete_module),
	CALL(swapon),
	CALL(swapoff),
	CALL(acct),
	CALL(quotactl),
	CALL(sethostname),
	CALL(setdomainname),
	CALL(settimeofday),
	CALL(clock_settime),
	CALL(bpf),
	CALL(perf_event_open),
	CALL(userfaultfd),
	{"io_uring_setup", 425},
	CALL(add_key),
	CALL(request_key),
	CALL(keyctl),
#ifdef __x86_64__
	CALL(iopl),
	CALL(ioperm),
	CALL(modify_ldt),
#endif
};

/* and what it needs: EBADF, EFAULT and EINVAL come from the kernel. */
static const struct call driving[] = {
	CALL(openat),	CALL(ioctl), CALL(mmap),    CALL(execve),
	CALL(connect),	CALL(bind),  CALL(mknodat), CALL(fchmodat),
	CALL(unlinkat), CALL(pipe2), CALL(sendmsg), CALL(finit_module),
};

#ifdef __x86_64__
#define IS_PROBE(number)                                                                           \
	((number) == 335 || (number) == 336) /* the kernel's own; no filter sees them */
#else
#define IS_PROBE(number) false
#endif

static bool among(const struct call *calls, size_t count, long number)
{
	for (size_t i = 0; i < count; i++) {
		if (calls[i].number == number)
			return true;
	}
	return false;
}

/* No argument is a file, an address or a length. */
static int errno_of(long number)
{
	errno = 0;
	return syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) == -1 ? errno : 0;
}

/* Whether a number that may not be called was, or one that may did not reach the kernel. */
static bool any_wrong(const struct call *more, size_t more_count)
{
	for (long number = 0; number <= NEWEST; number++) {
		bool clones = number == __NR_clone || number == 435 || number == __NR_openat;

		if (among(reading, COUNT(reading), number) || among(more, more_count, number) ||
		    (clones && (more_count || number == __NR_openat)) || IS_PROBE(number))
			continue;
		if (errno_of(number) != EPERM) {
			printf("call %ld: %s\n", number, strerror(errno));
			fflush(stdout);
			return true;
		}
	}
	return errno_of(NEWEST + 1) != ENOSYS;
}

static bool calls_more_than_reading(void)
{
	return any_wrong(NULL, 0);
}

static bool calls_more_than_looking(void)
{
	return any_wrong(looking, COUNT(looking));
}

static bool clones_a_namespace(void)
{
	return syscall(__NR_clone, 0x10000000L | SIGCHLD, 0L, 0L, 0L, 0L) >= 0 || errno != EPERM ||
	       errno_of(435) != ENOSYS;
}

static bool opens_in_any_way(void)
{
	static const int flags[] = {O_WRONLY, O_RDWR,	O_CREAT,
				    O_TRUNC,  O_APPEND, O_RDWR | O_TMPFILE};

	for (size_t i = 0; i < COUNT(flags); i++) {
		if (syscall(__NR_openat, AT_FDCWD, "/tmp", flags[i], 0600) != -1 || errno != EPERM)
			return true;
	}
	return false;
}

static bool sets_the_clock(void)
{
	struct timex clock = {.modes = ADJ_TICK, .tick = 10000};

	return adjtimex(&clock) >= 0 || errno != EPERM;
}

static bool asks_the_clock(void)
{
	struct timex clock = {.modes = 0};

	return adjtimex(&clock) >= 0;
}

static bool waits_and_signals(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid;
}

static bool rules(void)
{
	for (size_t i = 0; i < COUNT(ruling); i++) {
		if (errno_of(ruling[i].number) != EPERM)
			return true;
	}
	return false;
}

static bool starts_false(void)
{
	char *const arguments[] = {(char *)"false", NULL};

	execv("/bin/false", arguments); /* ends with 1, as what worked does */
	return false;
}

static bool drives(void)
{
	for (size_t i = 0; i < COUNT(driving); i++) {
		bool own = driving[i].number == __NR_finit_module && geteuid() != 0;

		if (!own && errno_of(driving[i].number) == EPERM)
			return false;
	}
	return waits_and_signals();
}

static void each_call_by_its_number(void **state)
{
	static const struct {
		const char *what;
		unsigned int (*confine)(void);
		bool (*attempt)(void);
		int expected;
	} cases[] = {
		{"reading and more", osp_confine_to_reading, calls_more_than_reading, 0},
		{"reading, opening", osp_confine_to_reading, opens_in_any_way, 0},
		{"looking and more", osp_confine_from_changes, calls_more_than_looking, 0},
		{"looking, opening", osp_confine_from_changes, opens_in_any_way, 0},
		{"looking, a namespace", osp_confine_from_changes, clones_a_namespace, 0},
		{"looking, setting the clock", osp_confine_from_changes, sets_the_clock, 0},
		{"looking, asking the clock", osp_confine_from_changes, asks_the_clock, 1},
		{"looking, a child that is killed", osp_confine_from_changes, waits_and_signals, 1},
		{"driving and ruling", osp_confine_from_ruling, rules, 0},
		{"driving", osp_confine_from_ruling, drives, 1},
		{"driving, a program", osp_confine_from_ruling, starts_false, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int worked = attempt_confined(cases[i].confine, cases[i].attempt);

		if (worked == 3)
			skip();
		if (worked != cases[i].expected)
			fail_msg("%s: %d", cases[i].what, worked);
	}
}

/* --- Landlock without the filter -------------------------------------------------------------- */

#define LANDLOCK_CREATE	     444
#define LANDLOCK_ASK_VERSION 1u
#define LANDLOCK_TCP_SINCE   4

/* osp_confine_to_reading() where no second filter can be set: what is forbidden is by Landlock. */
static unsigned int confine_by_landlock(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = COUNT(code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 0;
	return osp_confine_to_reading();
}

static bool is_refused(int result)
{
	return result < 0 && errno == EACCES;
}

static bool changes_are_refused(void)
{
	return is_refused(open("test_confine.file", O_WRONLY | O_CREAT, 0600)) &&
	       is_refused(open("test_confine.there", O_RDWR)) &&
	       is_refused(truncate("test_confine.there", 0)) &&
	       is_refused(unlink("test_confine.there")) &&
	       is_refused(rename("test_confine.there", "test_confine.file")) &&
	       is_refused(mkdir("test_confine.folder", 0700)) &&
	       is_refused(symlink("there", "test_confine.file"));
}

static bool programs_are_refused(void)
{
	char *const arguments[] = {(char *)"true", NULL};

	return is_refused(execv("/bin/true", arguments));
}

static bool connections_are_refused(void)
{
	struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(9)};
	int file = socket(AF_INET, SOCK_STREAM, 0);

	nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_ASK_VERSION) < LANDLOCK_TCP_SINCE)
		return true;
	return file >= 0 && is_refused(connect(file, (struct sockaddr *)&nobody, sizeof(nobody))) &&
	       is_refused(bind(file, (struct sockaddr *)&nobody, sizeof(nobody)));
}

static int attempt_by_landlock(bool (*attempt)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		unsigned int held = confine_by_landlock();

		if (held != (OSP_CONFINED_NO_NEW_PRIVS | OSP_CONFINED_LANDLOCK))
			syscall(SYS_exit_group, 2);
		syscall(SYS_exit_group, attempt() ? 1 : 0);
		abort();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void landlock_alone_allows_only_reading(void **state)
{
	static const struct {
		const char *what;
		bool (*attempt)(void);
	} cases[] = {
		{"reading a file", reads_a_file},	  {"reading a folder", reads_a_folder},
		{"changes", changes_are_refused},	  {"programs", programs_are_refused},
		{"connections", connections_are_refused},
	};
	FILE *file = fopen("test_confine.there", "w");

	(void)state;
	assert_non_null(file);
	fclose(file);
	if (syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_ASK_VERSION) < 3) /* the third: truncate() */
		skip();
	for (size_t i = 0; i < COUNT(cases); i++) {
		int held = attempt_by_landlock(cases[i].attempt);

		if (held != 1)
			fail_msg("%s: %d", cases[i].what, held);
	}
	assert_int_equal(unlink("test_confine.there"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_goes_on),
		cmocka_unit_test(nothing_else_does),
		cmocka_unit_test(looking_goes_on_where_changes_do_not),
		cmocka_unit_test(each_call_by_its_number),
		cmocka_unit_test(landlock_alone_allows_only_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
