/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_reducer.c - the process that takes part in all-reduces for this node */
#include "onespine_config.h"
#include "gate/gate_reducer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/uvm.h"
#include "lib/base/clean.h"
#include "gate/gate_environment.h"
#include "gate/gate_node.h"
#include "gate/gate_rights.h"

#define SELF	     "/proc/self/exe"
#define LEAVE_MS     2000 /* eight contexts are gone within a second */
#define LEAVE_TRY_MS 5

/* --- in the child ----------------------------------------------------------------------------- */

static void say_why(int file, const char *why)
{
	struct osp_gang_answer answer;

	memset(&answer, 0, sizeof(answer));
	answer.state = OSP_GANG_BROKE;
	snprintf(answer.why, sizeof(answer.why), "%s", why);
	osp_write_all(file, &answer, sizeof(answer));
	_exit(1);
}

/* Adapters write into memory that is locked. */
static void lock_any_memory(void)
{
	struct rlimit any = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &any);
}

static void become_reducer(const struct osp_gate_job *job, uint32_t most_ms, int file)
{
	char *environment[GATE_VARIABLES_MAX], gpus[1024];
	char program[] = "onespine-gate", part[] = "reduce";
	char *arguments[] = {program, part, gpus, NULL};
	struct osp_error error = {.text = ""};
	int nothing, lock = osp_gate_lock_wait(job, true, most_ms / 2);

	lock_any_memory();
	osp_uvm_make(job->root);
	gate_give_up_rights(file, lock, most_ms / 1000 + 2);
	nothing = open("/dev/null", O_RDWR);
	if (chdir("/") || nothing < 0 || gate_environment(job, environment, &error))
		say_why(file, *error.text ? error.text : "no environment");
	snprintf(gpus, sizeof(gpus), "--gpus=%s", job->gang.gpus ? job->gang.gpus : "");
	dup2(file, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO); /* NCCL prints there */
	dup2(nothing, STDERR_FILENO);
	execve(SELF, arguments, environment);
	say_why(file, "onespine-gate may not be run by nobody");
}

/* --- in the gate ------------------------------------------------------------------------------ */

int gate_reducer_start(struct gate_reducer *reducer, const struct osp_gate_job *job,
		       uint32_t most_ms, struct osp_error *error)
{
	pid_t parent = getpid();
	int ends[2];

	memset(reducer, 0, sizeof(*reducer));
	reducer->file = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return osp_error_set(error, "no socket for NCCL: %s", strerror(errno));
	reducer->child = fork();
	if (reducer->child == 0) {
		osp_child_follow(parent);
		become_reducer(job, most_ms, ends[1]);
	}
	close(ends[1]);
	if (reducer->child < 0) {
		reducer->child = 0;
		close(ends[0]);
		return osp_error_set(error, "no process for NCCL: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	reducer->file = ends[0];
	reducer->asked = true;
	return 0;
}

bool gate_reducer_ask(struct gate_reducer *reducer, uint32_t first, uint32_t ranks,
		      uint32_t sum_kib, const uint8_t id[OSP_GATE_ID_BYTES])
{
	struct osp_gang_order order = {.first = first, .ranks = ranks, .sum_kib = sum_kib};

	if (!reducer->child || reducer->file < 0 || reducer->asked)
		return false;
	memcpy(order.id.bytes, id, sizeof(order.id.bytes));
	reducer->asked = true;
	return send(reducer->file, &order, sizeof(order), MSG_NOSIGNAL) == sizeof(order);
}

static float figure(float value)
{
	return isfinite(value) && value > 0 ? value : 0;
}

static void take_answer(const struct osp_gang_answer *answer, struct osp_gate_part *part)
{
	memset(part, 0, sizeof(*part));
	part->state = answer->state == OSP_GANG_READY  ? OSP_GATE_PART_READY
		      : answer->state == OSP_GANG_DONE ? OSP_GATE_PART_DONE
						       : OSP_GATE_PART_BROKE;
	part->version = answer->version;
	part->gpus = answer->gpus <= OSP_GATE_GPUS_MAX ? answer->gpus : 0;
	part->sum_kib = answer->sum_kib;
	part->wrong = answer->wrong;
	part->gbps = figure(answer->gbps);
	part->least_gbps = figure(answer->least_gbps);
	part->unproven = answer->unproven;
	part->network_gbps = figure(answer->network_gbps);
	memcpy(part->id, answer->id.bytes, sizeof(part->id));
	/* it need not end it */
	_Static_assert(sizeof(part->why) <= sizeof(answer->why), "reads no further");
	osp_copy_clean(part->why, sizeof(part->why), answer->why);
}

int gate_reducer_read(struct gate_reducer *reducer, struct osp_gate_part *part)
{
	ssize_t count;

	if (!reducer->child || !reducer->asked)
		return 0;
	count = recv(reducer->file, (char *)&reducer->answer + reducer->got_bytes,
		     sizeof(reducer->answer) - reducer->got_bytes, MSG_DONTWAIT);
	if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if (count <= 0)
		return -1;
	reducer->got_bytes += (size_t)count;
	if (reducer->got_bytes < sizeof(reducer->answer))
		return 0;
	take_answer(&reducer->answer, part);
	reducer->got_bytes = 0;
	reducer->asked = false;
	return 1;
}

/* Has it ended within `most_ms`? */
static bool has_left(pid_t child, uint32_t most_ms)
{
	uint64_t until_ms = osp_now_ms() + most_ms;

	do {
		pid_t ended = waitpid(child, NULL, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			return true;
		usleep(LEAVE_TRY_MS * 1000);
	} while (osp_now_ms() < until_ms);
	return false;
}

void gate_reducer_let_go(struct gate_reducer *reducer)
{
	if (!reducer->child || reducer->file < 0)
		return;
	reducer->killed = reducer->asked;
	reducer->asked = false;
	if (reducer->killed)
		kill(reducer->child, SIGKILL);
	close(reducer->file);
	reducer->file = -1;
}

void gate_reducer_end(struct gate_reducer *reducer)
{
	gate_reducer_let_go(reducer);
	if (reducer->child && (reducer->killed || !has_left(reducer->child, LEAVE_MS)))
		osp_child_drop(reducer->child);
	reducer->child = 0;
}
