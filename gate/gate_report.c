/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_report.c - reports to the watch on slurmctld's hosts what this node knows of its own
 * place */
#include "onespine_config.h"
#include "gate/gate_report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/own_place.h"
#include "check/base/root.h"
#include "check/check.h"
#include "gate/gate_loop.h"
#include "gate/gate_node.h"
#include "gate/gate_peer.h"
#include "host/record/history_line.h"
#include "host/report/report_wire.h"
#include "host/seal/seal.h"
#include "host/source/run_program.h"

#define NVML_MS	       10000 /* chosen: NVML begins in 2 s on a node with 8 GPUs */
#define SMPQUERY_S     3
#define SMPQUERY_BYTES 65536
#define WATCH_MS       5000 /* for one host */
#define TRIES	       3
#define SOON_MS	       1100 /* a watch takes one report of a node a second */

/* --- this node -------------------------------------------------------------------------------- */

/* Returns when the node booted, by its clock. */
static int64_t boot_s(const char *root)
{
	char text[64];
	double uptime_s;

	if (!osp_root_read(root, text, sizeof(text), "proc/uptime") ||
	    sscanf(text, "%lf", &uptime_s) != 1)
		return 0;
	return (int64_t)time(NULL) - (int64_t)uptime_s;
}

static bool is_infiniband(const char *root, const char *adapter)
{
	char kind[32], state[32];

	return osp_root_read(root, kind, sizeof(kind), "sys/class/infiniband/%s/ports/1/link_layer",
			     adapter) &&
	       !strcmp(kind, "InfiniBand") &&
	       osp_root_read(root, state, sizeof(state), "sys/class/infiniband/%s/ports/1/state",
			     adapter) &&
	       strstr(state, "ACTIVE");
}

/* Asks which switch an adapter's first port is on. Returns false if that is not known. */
static bool ask_leaf(const char *adapter, struct osp_place_report *report)
{
	const char *const argv[] = {"smpquery", "-C",	    adapter, "-P", "1",
				    "-D",	"nodeinfo", "0,1",   NULL};
	struct osp_program_output output = {.text = NULL};
	struct osp_error ignored = {.text = ""};
	uint64_t guid;
	int kind = -1;

	if (!osp_run_program(argv, SMPQUERY_S, SMPQUERY_BYTES, &output, &ignored))
		kind = osp_smp_switch(output.text, &guid);
	free(output.text);
	return kind == 0 || (kind > 0 && osp_report_add_leaf(report, guid));
}

/* Finds the node's leaves, which are known if each of its adapters says so. */
static void ask_leaves(const char *root, struct osp_place_report *report)
{
	struct osp_names names;

	report->leaves_known = true;
	if (!osp_root_list(root, &names, "sys/class/infiniband"))
		return;
	for (size_t i = 0; i < names.count && report->leaves_known; i++) {
		if (is_infiniband(root, names.names[i]))
			report->leaves_known = ask_leaf(names.names[i], report);
	}
	osp_names_free(&names);
	if (!report->leaves_known)
		report->leaf_count = 0;
}

static enum osp_own_nvlink look(const struct osp_gate_job *job, struct osp_place_report *report)
{
	struct osp_identity identity;
	enum osp_own_nvlink nvlink;

	memset(report, 0, sizeof(*report));
	osp_identity_read(job->root, &identity);
	snprintf(report->node, sizeof(report->node), "%s", job->node);
	osp_report_word(report->instance, *identity.instance ? identity.instance : OSP_REPORT_NONE);
	report->boot_s = boot_s(job->root);
	osp_own_neuron(job->root, report);
	ask_leaves(job->root, report);
	nvlink = osp_own_nvlink(job->root, NVML_MS, report);
	return nvlink;
}

/* --- the watch -------------------------------------------------------------------------------- */

static bool wait_for(const struct osp_gate_peer *peer, short events)
{
	struct pollfd wait = {.fd = peer->file, .events = events};
	uint64_t now_ms;

	while ((now_ms = osp_now_ms()) < peer->until_ms) {
		int ready = poll(&wait, 1, (int)(peer->until_ms - now_ms));

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
	}
	return false;
}

static bool receive(const struct osp_gate_peer *peer, void *bytes, size_t count)
{
	uint8_t *at = bytes;

	while (count) {
		ssize_t got;

		if (!wait_for(peer, POLLIN))
			return false;
		got = read(peer->file, at, count);
		if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		if (got > 0) {
			at += got;
			count -= (size_t)got;
		}
	}
	return true;
}

/* Reads the greeting. Returns 0, or -1 with `error` set: no watch of root's or SlurmUser's. */
static int take_greeting(const struct osp_gate_peer *peer, struct osp_place_report *report,
			 uid_t *reader, struct osp_error *error)
{
	uint8_t greeting[OSP_REPORT_GREETING_BYTES], *at = greeting + OSP_REPORT_MARK_BYTES + 1;
	uint32_t uid;

	if (!receive(peer, greeting, sizeof(greeting)))
		return osp_error_set(error, "ends the connection without a greeting");
	if (memcmp(greeting, OSP_REPORT_MARK, OSP_REPORT_MARK_BYTES) != 0 ||
	    greeting[OSP_REPORT_MARK_BYTES] != OSP_REPORT_WIRE_VERSION)
		return osp_error_set(error, "is no watch of this release");
	memcpy(&uid, at, sizeof(uid));
	*reader = (uid_t)ntohl(uid);
	if (*reader != 0 && *reader != osp_gate_slurm_user())
		return osp_error_set(error, "runs as user %u, neither root nor SlurmUser",
				     (unsigned int)*reader);
	memcpy(report->challenge, at + sizeof(uid), sizeof(report->challenge));
	return 0;
}

/* Begins a seal, which with MUNGE only `reader` can open. */
static int begin_seal(const struct osp_gate_job *job, uid_t reader, struct osp_seal *seal,
		      struct osp_error *error)
{
	const struct osp_seal_means means = {.key_file = job->key_file,
					     .munge_socket = job->munge_socket,
					     .life_s = OSP_REPORT_LIFE_S,
					     .reader = reader};

	return osp_seal_begin(seal, &means, error);
}

static int add_sealed(const struct osp_gate_job *job, const struct osp_place_report *report,
		      uid_t reader, struct osp_gate_peer *peer, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT, sealed = OSP_TEXT_INIT;
	struct osp_seal seal;
	uint32_t length;
	int rc;

	osp_report_write(report, &text);
	rc = begin_seal(job, reader, &seal, error);
	if (!rc)
		rc = osp_seal_message(&seal, &text, &sealed, error);
	osp_seal_end(&seal);
	length = htonl((uint32_t)sealed.length_bytes);
	osp_text_add_bytes(&peer->out, (const char *)&length, sizeof(length));
	osp_text_add_bytes(&peer->out, sealed.data ? sealed.data : "", sealed.length_bytes);
	if (!rc && peer->out.failed)
		rc = osp_error_set(error, "out of memory");
	osp_text_free(&text);
	osp_text_free(&sealed);
	return rc;
}

/* Returns whether what follows is the receipt of a watch of `reader` on this connection. */
static bool is_receipted(const struct osp_gate_job *job, const struct osp_gate_peer *peer,
			 const struct osp_place_report *report, uid_t reader)
{
	char sealed[OSP_REPORT_SEALED_MAX + 1], *receipt;
	const size_t mark_bytes = sizeof(OSP_REPORT_RECEIPT) - 1;
	struct osp_seal seal;
	size_t bytes = 0;
	uint32_t length;
	bool is;

	if (!receive(peer, &length, sizeof(length)))
		return false;
	length = ntohl(length);
	if (length > OSP_REPORT_SEALED_MAX || !receive(peer, sealed, length))
		return false;
	sealed[length] = '\0';
	receipt = begin_seal(job, reader, &seal, NULL)
			  ? NULL
			  : osp_seal_open(&seal, sealed, length, reader, &bytes);
	osp_seal_end(&seal);
	is = receipt && bytes == OSP_REPORT_RECEIPT_BYTES &&
	     !memcmp(receipt, OSP_REPORT_RECEIPT, mark_bytes) &&
	     !memcmp(receipt + mark_bytes, report->challenge, sizeof(report->challenge));
	free(receipt);
	return is;
}

/* Returns 0, 1 if it is to be tried again soon, or -1 with `error` set. */
static int take_answer(const struct osp_gate_job *job, const struct osp_gate_peer *peer,
		       const struct osp_place_report *report, uid_t reader, struct osp_error *error)
{
	char byte;

	if (!receive(peer, &byte, 1))
		return osp_error_set(error, "does not answer");
	switch (byte) {
	case OSP_REPORT_TAKEN:
		return is_receipted(job, peer, report, reader)
			       ? 0
			       : osp_error_set(error,
					       "does not prove that it is root's or SlurmUser's");
	case OSP_REPORT_SOON:
		return 1;
	case OSP_REPORT_STRANGER:
		return osp_error_set(error, "knows no node of this name yet");
	case OSP_REPORT_ADDRESS:
		return osp_error_set(error, "has another address for this node");
	default:
		return osp_error_set(error, "refuses the report");
	}
}

/* Sends the report and takes the answer. Returns what take_answer() returns. */
static int talk(const struct osp_gate_job *job, struct osp_place_report *report,
		struct osp_gate_peer *peer, struct osp_error *error)
{
	uid_t reader = 0;

	if (!wait_for(peer, POLLOUT) || osp_gate_connected(peer))
		return osp_error_set(error, "cannot be reached");
	if (take_greeting(peer, report, &reader, error) ||
	    add_sealed(job, report, reader, peer, error))
		return -1;
	while (osp_gate_unsent(peer)) {
		if (!wait_for(peer, POLLOUT) || osp_gate_flush(peer))
			return osp_error_set(error, "ends the connection");
	}
	return take_answer(job, peer, report, reader, error);
}

/* Returns the node's own address to connect from, if this host has it and it can reach the
 * watch; else NULL. */
static const struct sockaddr_storage *own_address(const struct osp_gate_job *job,
						  const struct osp_gate_controller *controller,
						  struct sockaddr_storage *own)
{
	struct osp_error ignored = {.text = ""};

	if (osp_gate_address(job->node, own, &ignored) ||
	    (osp_gate_is_loopback(own) && !osp_gate_is_loopback(&controller->address) &&
	     !*job->root))
		return NULL;
	return own;
}

/* Serves one connection; as take_answer(). */
static int try_to_report(const struct osp_gate_job *job,
			 const struct osp_gate_controller *controller, uint16_t port,
			 struct osp_place_report *report, struct osp_error *error)
{
	struct osp_gate_peer peer = {.file = -1};
	struct sockaddr_storage own;
	int rc = -1;

	if (osp_gate_connect(&peer, &controller->address, port, own_address(job, controller, &own),
			     osp_now_ms() + WATCH_MS))
		osp_error_set(error, "cannot be reached: %s", strerror(errno));
	else
		rc = talk(job, report, &peer, error);
	osp_gate_hang_up(&peer);
	return rc;
}

static int report_to(const struct osp_gate_job *job, const struct osp_gate_controller *controller,
		     uint16_t port, struct osp_place_report *report, struct osp_error *error)
{
	struct osp_error why = {.text = ""};
	int rc = 1;

	if (controller->state)
		rc = osp_error_set(&why, "has an address that is not found: %s",
				   gai_strerror(controller->state));
	for (int i = 0; rc > 0 && i < TRIES; i++) {
		if (i)
			usleep(SOON_MS * 1000);
		rc = try_to_report(job, controller, port, report, &why);
	}
	if (rc)
		osp_error_set(error, "the watch on %.100s, port %u, %.200s", controller->host, port,
			      rc > 0 ? "hears this node too often" : why.text);
	return rc;
}

/* --- both ------------------------------------------------------------------------------------- */

static int report_all(const struct osp_gate_job *job, uint16_t port,
		      struct osp_place_report *report, struct osp_error *error)
{
	struct osp_gate_controller controllers[OSP_GATE_CONTROLLERS_MAX];
	uint32_t count = osp_gate_controllers(controllers, OSP_GATE_CONTROLLERS_MAX), reported = 0;

	for (uint32_t i = 0; i < count; i++)
		reported += !report_to(job, &controllers[i], port, report, error);
	if (reported)
		osp_error_clear(error);
	return reported ? 0 : osp_error_set(error, "slurm.conf has no SlurmctldHost");
}

int osp_gate_report(const struct osp_gate_job *job, struct osp_error *error)
{
	uint32_t port = osp_config_watch(job->config)->report_port;
	struct osp_place_report report;
	enum osp_own_nvlink nvlink;
	struct osp_seal seal;
	int rc = begin_seal(job, 0, &seal, error);

	osp_seal_end(&seal);
	if (rc)
		return rc;
	nvlink = look(job, &report);
	if (!report.boot_s)
		return osp_error_set(error, "/proc/uptime cannot be read");
	if (report_all(job, (uint16_t)port, &report, error))
		return -1;
	if (nvlink == OSP_NVLINK_PENDING)
		return osp_error_set(error, "the GPUs have not joined their NVLink domain yet");
	if (nvlink == OSP_NVLINK_SILENT)
		return osp_error_set(error, "NVML does not report the NVLink domain");
	if (nvlink == OSP_NVLINK_APART)
		return osp_error_set(error, "the GPUs are not all in one NVLink domain");
	return 0;
}

void osp_gate_report_begin(const struct osp_gate_job *job)
{
	char program[] = "onespine-gate", part[] = "report";
	char *const arguments[] = {program, part, NULL};
	char **environment = osp_gate_environment(job);
	pid_t child;

	if (!osp_config_watch(job->config)->report_port)
		return;
	child = fork();
	if (child < 0)
		osp_gate_log(job, "no process for the report: %s", strerror(errno));
	if (child)
		return;
	/* Not of the Prolog's group, which slurmd ends with it, and with none of its files. */
	setsid();
	for (int file = 0, nothing = open("/dev/null", O_RDWR); file <= 2; file++)
		dup2(nothing, file);
	osp_child_close_but(-1, -1);
	execve("/proc/self/exe", arguments, environment);
	_exit(127);
}
