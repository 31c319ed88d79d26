/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * as_unit.c - runs a program with the system calls that its systemd unit leaves it
 *
 *	as_unit FAMILIES PROGRAM [ARGUMENT...]
 *
 * CALLS names a file of lines ALLOW(name), made of `systemd-analyze syscall-filter`; FAMILIES is
 * RestrictAddressFamilies= of the unit. Beside them it does what MemoryDenyWriteExecute= and
 * RestrictNamespaces= do. Where the unit lets a call fail, the process is killed: so nothing that
 * is refused goes unseen. clone3() is not there, as systemd has it (its flags are in memory).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define STEPS_MAX 4096

static struct sock_filter steps[STEPS_MAX];
static unsigned short count;

static void add(struct sock_filter step)
{
	if (count == STEPS_MAX) {
		fputs("as_unit: too many calls\n", stderr);
		exit(2);
	}
	steps[count++] = step;
}

static void load(size_t offset)
{
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset));
}

static void answer(unsigned int action)
{
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skips the next `skipped` steps if what is loaded is not `value`. */
static void only_if(unsigned int value, unsigned char skipped)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

static void load_argument(int index)
{
	load(offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

/* Kills who gives all of `bits` in that argument of that call; any of them if `any`. */
static void forbid_bits(unsigned int call, int index, unsigned int bits, int any)
{
	only_if(call, 5 - any);
	load_argument(index);
	if (any) {
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
	} else {
		add((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
		only_if(bits, 1);
	}
	answer(SECCOMP_RET_KILL_PROCESS);
	load(offsetof(struct seccomp_data, nr));
}

/* "AF_UNIX AF_INET": a socket of any other family kills. */
static void allow_families(char *families)
{
	static const struct {
		const char *name;
		unsigned int family;
	} known[] = {{"AF_UNIX", AF_UNIX},
		     {"AF_INET", AF_INET},
		     {"AF_INET6", AF_INET6},
		     {"AF_NETLINK", AF_NETLINK}};
	unsigned int allowed[8];
	unsigned char allowed_count = 0;

	for (char *word = strtok(families, " "); word; word = strtok(NULL, " "))
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(word, known[i].name))
				allowed[allowed_count++] = known[i].family;
	only_if(SYS_socket, (unsigned char)(2 * allowed_count + 2));
	load_argument(0);
	for (unsigned char i = 0; i < allowed_count; i++) {
		only_if(allowed[i], 1);
		answer(SECCOMP_RET_ALLOW);
	}
	answer(SECCOMP_RET_KILL_PROCESS);
}

static void allow(unsigned int call)
{
	only_if(call, 1);
	answer(SECCOMP_RET_ALLOW);
}

static void make_filter(char *families)
{
	load(offsetof(struct seccomp_data, arch));
	only_if(AUDIT_ARCH_X86_64, 1);
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
	answer(SECCOMP_RET_KILL_PROCESS);
	load(offsetof(struct seccomp_data, nr));
	only_if(SYS_clone3, 1);
	answer(SECCOMP_RET_ERRNO | ENOSYS);
	allow_families(families);
	forbid_bits(SYS_mmap, 2, PROT_WRITE | PROT_EXEC, 0);
	forbid_bits(SYS_mprotect, 2, PROT_EXEC, 1);
	forbid_bits(SYS_clone, 0, NAMESPACES, 1);
	forbid_bits(SYS_unshare, 0, NAMESPACES, 1);
	only_if(SYS_setns, 1);
	answer(SECCOMP_RET_KILL_PROCESS);
#define ALLOW(name) allow(SYS_##name);
#include CALLS
	answer(SECCOMP_RET_KILL_PROCESS);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = {.filter = steps};

	if (argc < 3)
		return 2;
	make_filter(argv[1]);
	program.len = count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
		perror("as_unit: seccomp");
		return 2;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
