/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller.c - what the gate asks of slurmctld and changes there */
#include "onespine_config.h"
#include "host/slurm/controller_private.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "host/slurm_compat.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/node_instance.h"
#include "lib/gate/gate_gres.h"

#define PAUSE_LEAST_MS 200
#define PAUSE_MORE_MS  800

/* --- deadlines -------------------------------------------------------------------------------- */

static void *ask_in_thread(void *argument)
{
	struct osp_controller_question *question = argument;

	errno = 0;
	question->error =
		question->ask(question) == SLURM_SUCCESS ? 0 : (errno ? errno : SLURM_ERROR);
	return NULL;
}

/*
 * Returns whether slurmctld did not answer: also if it was killed when it had the question, and
 * perhaps had done what was asked for. Slurm says of a connection that ends then that nothing was
 * received, or gives no error number at all (slurm_recv_timeout() and slurm_send_timeout() of its
 * slurm_protocol_socket.c, 22.05 to 26.05). What is asked twice is done once: a requeue of a job
 * that is pending is refused, and a drained node is drained.
 */
static bool unreachable(int error)
{
	switch (error) {
	case SLURM_ERROR:
	case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
	case SLURM_COMMUNICATIONS_SEND_ERROR:
	case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
	case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
	case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
	case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
	case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
	case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
	case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
	case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT:
	case SLURM_PROTOCOL_AUTHENTICATION_ERROR:
	case ESLURM_IN_STANDBY_MODE:
	case ECONNREFUSED:
	case ECONNRESET:
	case EPIPE:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return true;
	default:
		return false;
	}
}

/* Asks once. False: the deadline passed, and `question` is lost. */
static bool ask_once(struct osp_controller_question *question, uint64_t until_ms)
{
	uint64_t now_ms = osp_now_ms();
	struct timespec until;
	pthread_t thread;

	if (now_ms >= until_ms || pthread_create(&thread, NULL, ask_in_thread, question) != 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)((until_ms - now_ms) / 1000);
	until.tv_nsec += (long)((until_ms - now_ms) % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (pthread_timedjoin_np(thread, NULL, &until) == 0)
		return true;
	pthread_detach(thread);
	return false;
}

/* Pauses for another length on each node, so that a thousand do not come back at once. */
static void pause_a_while(uint64_t until_ms)
{
	static unsigned int seed;
	uint64_t now_ms = osp_now_ms();
	uint64_t pause_ms;
	struct timespec pause;

	if (!seed)
		seed = (unsigned int)(now_ms * 2654435761U) ^ (unsigned int)getpid();
	pause_ms = PAUSE_LEAST_MS + (uint64_t)rand_r(&seed) % PAUSE_MORE_MS;
	if (now_ms + pause_ms > until_ms)
		pause_ms = until_ms > now_ms ? until_ms - now_ms : 0;
	pause = (struct timespec){.tv_sec = (time_t)(pause_ms / 1000),
				  .tv_nsec = (long)(pause_ms % 1000) * 1000000};
	nanosleep(&pause, NULL);
}

static void question_free(struct osp_controller_question *question)
{
	for (size_t i = 0; i < sizeof(question->words) / sizeof(question->words[0]); i++)
		free(question->words[i]);
	free(question);
}

int osp_controller_ask(const struct osp_controller_question *asked, uint64_t until_ms,
		       void **answer)
{
	struct osp_controller_question *question = malloc(sizeof(*question));
	int error = OSP_CONTROLLER_SILENT;

	osp_slurm_begin();
	if (!question)
		return ENOMEM;
	*question = *asked;
	for (size_t i = 0; i < sizeof(question->words) / sizeof(question->words[0]); i++)
		question->words[i] = asked->words[i] ? strdup(asked->words[i]) : NULL;
	for (;;) {
		if (!ask_once(question, until_ms))
			return OSP_CONTROLLER_SILENT;
		error = question->error;
		if (!unreachable(error))
			break;
		pause_a_while(until_ms);
	}
	if (answer)
		*answer = question->answer;
	question_free(question);
	return error;
}

const char *osp_controller_words(int error)
{
	return error == OSP_CONTROLLER_SILENT ? "slurmctld does not answer" : slurm_strerror(error);
}

/* --- slurmctld itself ------------------------------------------------------------------------- */

static int load_conf(struct osp_controller_question *question)
{
	slurm_conf_t *conf = NULL;
	int code = slurm_load_ctl_conf(0, &conf);

	question->answer = conf;
	return code;
}

int osp_controller_began(uint64_t until_ms, int64_t *began_s)
{
	struct osp_controller_question question = {.ask = load_conf};
	slurm_conf_t *conf;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);

	conf = answer;
	if (error || !conf)
		return error ? error : SLURM_ERROR;
	*began_s = (int64_t)conf->boot_time;
	OSP_SLURM_CONF_FREE(conf);
	return 0;
}

/* --- a job ------------------------------------------------------------------------------------ */

static int load_job(struct osp_controller_question *question)
{
	job_info_msg_t *jobs = NULL;
	int code = slurm_load_job(&jobs, question->job_id, SHOW_ALL | SHOW_DETAIL);

	question->answer = jobs;
	return code;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Takes the job's GPUs on each node. A job without any looks like one that nobody knows; then
 * its request says more. */
static void take_gpus(const slurm_job_info_t *record, struct osp_controller_job *job)
{
	uint32_t all = 0;

	job->gpus = calloc(record->gres_detail_cnt + 1, sizeof(*job->gpus));
	for (uint32_t i = 0; job->gpus && i < record->gres_detail_cnt; i++)
		all += job->gpus[i] = osp_gate_gres_gpus(record->gres_detail_str[i]);
	job->gpu_node_count = all ? record->gres_detail_cnt : 0;
	job->gpus_asked = osp_gate_gres_names_gpus(record->tres_alloc_str) ||
			  osp_gate_gres_names_gpus(record->tres_per_job) ||
			  osp_gate_gres_names_gpus(record->tres_per_node) ||
			  osp_gate_gres_names_gpus(record->tres_per_socket) ||
			  osp_gate_gres_names_gpus(record->tres_per_task);
}

static void take_job(const slurm_job_info_t *record, struct osp_controller_job *job)
{
	uint32_t state = record->job_state & JOB_STATE_BASE;

	job->phase = state == JOB_PENDING			      ? OSP_PHASE_PENDING
		     : state == JOB_RUNNING || state == JOB_SUSPENDED ? OSP_PHASE_RUNNING
								      : OSP_PHASE_ENDED;
	job->batch = record->batch_flag != 0;
	job->requeue = record->requeue != 0;
	job->reserved = record->resv_name && *record->resv_name;
	job->restarts = record->restart_cnt;
	job->nodes = copy(record->nodes);
	job->required = copy(record->req_nodes);
	job->excluded = copy(record->exc_nodes);
	job->partition = copy(record->partition);
	job->admin_comment = copy(record->admin_comment);
	take_gpus(record, job);
}

int osp_controller_job(uint32_t job_id, uint64_t until_ms, struct osp_controller_job *job)
{
	struct osp_controller_question question = {.ask = load_job, .job_id = job_id};
	job_info_msg_t *jobs = NULL;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);
	bool found = false;

	memset(job, 0, sizeof(*job));
	jobs = answer;
	if (error)
		return error;
	/* An array's job number brings all its tasks. */
	for (uint32_t i = 0; jobs && i < jobs->record_count && !found; i++) {
		found = jobs->job_array[i].job_id == job_id;
		if (found)
			take_job(&jobs->job_array[i], job);
	}
	slurm_free_job_info_msg(jobs);
	return found ? 0 : ESLURM_INVALID_JOB_ID;
}

void osp_controller_job_free(struct osp_controller_job *job)
{
	free(job->nodes);
	free(job->required);
	free(job->excluded);
	free(job->partition);
	free(job->admin_comment);
	free(job->gpus);
	memset(job, 0, sizeof(*job));
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int load_nodes(struct osp_controller_question *question)
{
	node_info_msg_t *nodes = NULL;
	int code = slurm_load_node(0, &nodes, SHOW_ALL);

	question->answer = nodes;
	return code;
}

static void take_node(const node_info_t *record, struct osp_controller_node *node)
{
	uint32_t base = record->node_state & NODE_STATE_BASE;
	char instance[OSP_INSTANCE_BYTES];

	node->name = copy(record->name);
	node->reason = record->reason && *record->reason ? copy(record->reason) : NULL;
	node->since_s = (int64_t)record->reason_time;
	node->gpus = osp_gate_gres_gpus(record->gres);
	node->drained = (record->node_state & NODE_STATE_DRAIN) != 0;
	node->idle = base == NODE_STATE_IDLE && !(record->node_state & NODE_STATE_COMPLETING);
	node->boot_s = (int64_t)record->boot_time;
	node->instance = copy(osp_listed_instance(record, instance, sizeof(instance)));
	node->responding = base != NODE_STATE_DOWN && base != NODE_STATE_FUTURE &&
			   !(record->node_state & NODE_STATE_NO_RESPOND);
}

int osp_controller_nodes(uint64_t until_ms, struct osp_controller_nodes *nodes)
{
	struct osp_controller_question question = {.ask = load_nodes};
	node_info_msg_t *records;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);

	memset(nodes, 0, sizeof(*nodes));
	records = answer;
	if (error || !records)
		return error ? error : SLURM_ERROR;
	nodes->nodes = calloc(records->record_count + 1, sizeof(*nodes->nodes));
	for (uint32_t i = 0; nodes->nodes && i < records->record_count; i++)
		if (records->node_array[i].name && *records->node_array[i].name)
			take_node(&records->node_array[i], &nodes->nodes[nodes->count++]);
	slurm_free_node_info_msg(records);
	return nodes->nodes ? 0 : ENOMEM;
}

void osp_controller_nodes_free(struct osp_controller_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		free(nodes->nodes[i].name);
		free(nodes->nodes[i].reason);
		free(nodes->nodes[i].instance);
	}
	free(nodes->nodes);
	memset(nodes, 0, sizeof(*nodes));
}

const struct osp_controller_node *osp_controller_node(const struct osp_controller_nodes *nodes,
						      const char *name)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		if (!strcmp(nodes->nodes[i].name, name))
			return &nodes->nodes[i];
	return NULL;
}

static int load_partitions(struct osp_controller_question *question)
{
	partition_info_msg_t *partitions = NULL;
	int code = slurm_load_partitions(0, &partitions, SHOW_ALL);

	question->answer = partitions;
	return code;
}

int osp_controller_partition(const char *partition, uint64_t until_ms, char **nodes)
{
	struct osp_controller_question question = {.ask = load_partitions};
	partition_info_msg_t *partitions;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);

	*nodes = NULL;
	partitions = answer;
	if (error || !partitions)
		return error ? error : SLURM_ERROR;
	for (uint32_t i = 0; i < partitions->record_count && !*nodes; i++)
		if (!strcmp(partitions->partition_array[i].name, partition))
			*nodes = copy(partitions->partition_array[i].nodes);
	slurm_free_partition_info_msg(partitions);
	return *nodes ? 0 : ESLURM_INVALID_PARTITION_NAME;
}

static int update_node(struct osp_controller_question *question)
{
	update_node_msg_t update;

	slurm_init_update_node_msg(&update);
	update.node_names = question->words[0];
	update.reason = question->words[1];
#ifdef HAVE_UPDATE_NODE_MSG_T_REASON_UID
	update.reason_uid = geteuid();
#endif
	update.node_state = question->flag ? NODE_STATE_DRAIN : NODE_RESUME;
	return slurm_update_node(&update);
}

int osp_controller_drain(const char *node, const char *reason, uint64_t until_ms)
{
	struct osp_controller_question question = {
		.ask = update_node, .flag = true, .words = {(char *)node, (char *)reason}};

	return osp_controller_ask(&question, until_ms, NULL);
}

int osp_controller_undrain(const char *node, uint64_t until_ms)
{
	struct osp_controller_question question = {.ask = update_node, .words = {(char *)node}};

	return osp_controller_ask(&question, until_ms, NULL);
}

/* --- reservations ----------------------------------------------------------------------------- */

#define TRIAL_FLAGS (RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS)
#define TRIAL_USER  "root"
/* Slurm makes a year of an INFINITE duration. */
#define TRIAL_LEAST_S ((time_t)300 * 86400)

const char *osp_controller_trial_name(const char *node, char name[OSP_TRIAL_NAME_BYTES])
{
	snprintf(name, OSP_TRIAL_NAME_BYTES, "onespine-%.80s", node);
	return name;
}

static int make_reservation(struct osp_controller_question *question)
{
	static char root[] = TRIAL_USER;
	resv_desc_msg_t reservation;
	bool created;
	char *name;

	slurm_init_resv_desc_msg(&reservation);
	reservation.name = question->words[0];
	reservation.node_list = question->words[1];
	reservation.users = root;
	reservation.start_time = time(NULL);
	reservation.duration = INFINITE;
	reservation.flags = TRIAL_FLAGS;
	name = slurm_create_reservation(&reservation);
	created = name != NULL;
	OSP_RESERVATION_NAME_FREE(name);
	return created ? SLURM_SUCCESS : SLURM_ERROR;
}

int osp_controller_reserve(const char *node, uint64_t until_ms)
{
	char name[OSP_TRIAL_NAME_BYTES];
	struct osp_controller_question question = {
		.ask = make_reservation,
		.words = {(char *)osp_controller_trial_name(node, name), (char *)node}};

	return osp_controller_ask(&question, until_ms, NULL);
}

int osp_drop_reservation(struct osp_controller_question *question)
{
	reservation_name_msg_t name = {.name = question->words[0]};

	return slurm_delete_reservation(&name);
}

int osp_load_reservations(struct osp_controller_question *question)
{
	reserve_info_msg_t *reservations = NULL;
	int code = slurm_load_reservations(0, &reservations);

	question->answer = reservations;
	return code;
}

static int load_jobs(struct osp_controller_question *question)
{
	job_info_msg_t *jobs = NULL;
	int code = slurm_load_jobs(0, &jobs, SHOW_ALL);

	question->answer = jobs;
	return code;
}

static bool is_empty(const char *text)
{
	return !text || !*text;
}

/* Returns whether it is what make_reservation() makes, of one node, and long enough ago. */
static bool is_trial(const reserve_info_t *record, time_t now_s)
{
	char name[OSP_TRIAL_NAME_BYTES];

	return record->name && record->node_list && record->node_cnt == 1 &&
	       !strcmp(record->name, osp_controller_trial_name(record->node_list, name)) &&
	       (record->flags & TRIAL_FLAGS) == TRIAL_FLAGS && record->users &&
	       !strcmp(record->users, TRIAL_USER) && is_empty(record->accounts) &&
	       is_empty(record->groups) && record->end_time - record->start_time >= TRIAL_LEAST_S &&
	       record->start_time <= now_s - OSP_TRIAL_QUIET_S;
}

/* Returns whether the job is a recheck's that waits longer than the recheck does. */
static bool is_forgotten(const slurm_job_info_t *job, time_t now_s)
{
	return (job->job_state & JOB_STATE_BASE) == JOB_PENDING && job->user_id == 0 && job->name &&
	       !strcmp(job->name, OSP_TRIAL_JOB) && job->submit_time <= now_s - OSP_TRIAL_QUIET_S;
}

static bool end_forgotten(const char *reservation, uint64_t until_ms)
{
	struct osp_controller_question question = {.ask = load_jobs};
	time_t now_s = time(NULL);
	job_info_msg_t *jobs;
	void *answer = NULL;
	bool any = false;

	if (osp_controller_ask(&question, until_ms, &answer) || !answer)
		return false;
	jobs = answer;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (job->resv_name && !strcmp(job->resv_name, reservation) &&
		    is_forgotten(job, now_s))
			any = osp_controller_end(job->job_id, until_ms) == 0 || any;
	}
	slurm_free_job_info_msg(jobs);
	return any;
}

int osp_controller_unreserve(const char *node, uint64_t until_ms)
{
	char name[OSP_TRIAL_NAME_BYTES];
	struct osp_controller_question question = {
		.ask = osp_drop_reservation,
		.words = {(char *)osp_controller_trial_name(node, name)}};
	int error = osp_controller_ask(&question, until_ms, NULL);

	if (error == ESLURM_RESERVATION_BUSY && end_forgotten(name, until_ms))
		error = osp_controller_ask(&question, until_ms, NULL);
	return error;
}

/* Returns whether a job is in this reservation, or was in it a moment ago. */
static bool has_job(const job_info_msg_t *jobs, const char *reservation, time_t now_s)
{
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];
		bool ended = (job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED &&
			     !(job->job_state & JOB_COMPLETING);

		if (job->resv_name && !strcmp(job->resv_name, reservation) &&
		    !is_forgotten(job, now_s) &&
		    (!ended || job->end_time > now_s - OSP_TRIAL_QUIET_S))
			return true;
	}
	return false;
}

static int take_trials(const reserve_info_msg_t *records, uint64_t until_ms, time_t now_s,
		       char **nodes)
{
	struct osp_controller_question question = {.ask = load_jobs};
	job_info_msg_t *jobs = NULL;
	void *answer;
	size_t count = 0;
	int error = 0;

	for (uint32_t i = 0; !error && i < records->record_count; i++) {
		const reserve_info_t *record = &records->reservation_array[i];

		if (!is_trial(record, now_s))
			continue;
		if (!jobs) {
			error = osp_controller_ask(&question, until_ms, &answer);
			jobs = error ? NULL : answer;
		}
		if (jobs && !has_job(jobs, record->name, now_s))
			nodes[count++] = copy(record->node_list);
	}
	slurm_free_job_info_msg(jobs);
	return error;
}

int osp_controller_trials(uint64_t until_ms, char ***nodes)
{
	struct osp_controller_question question = {.ask = osp_load_reservations};
	reserve_info_msg_t *records;
	void *answer = NULL;
	int error = osp_controller_ask(&question, until_ms, &answer);

	*nodes = NULL;
	records = answer;
	if (error || !records)
		return error ? error : SLURM_ERROR;
	*nodes = calloc(records->record_count + 1, sizeof(**nodes));
	error = *nodes ? take_trials(records, until_ms, time(NULL), *nodes) : ENOMEM;
	slurm_free_reservation_info_msg(records);
	return error;
}

void osp_controller_trials_free(char **nodes)
{
	for (char **node = nodes; node && *node; node++)
		free(*node);
	free(nodes);
}

/* --- changing a job --------------------------------------------------------------------------- */

static int requeue_job(struct osp_controller_question *question)
{
	return slurm_requeue(question->job_id, question->flag ? JOB_REQUEUE_HOLD : 0);
}

int osp_controller_requeue(uint32_t job_id, bool hold, uint64_t until_ms)
{
	struct osp_controller_question question = {
		.ask = requeue_job, .job_id = job_id, .flag = hold};

	return osp_controller_ask(&question, until_ms, NULL);
}

/* Names the task of an array. The last one has the array's own number, by which Slurm would end all
 * tasks. */
static bool array_task(uint32_t job_id, char *name, size_t name_bytes)
{
	job_info_msg_t *jobs = NULL;
	bool found = false;

	if (slurm_load_job(&jobs, job_id, SHOW_ALL) != 0)
		return false;
	for (uint32_t i = 0; i < jobs->record_count && !found; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		found = job->job_id == job_id && job->array_task_id != NO_VAL;
		if (found)
			snprintf(name, name_bytes, "%u_%u", job->array_job_id, job->array_task_id);
	}
	slurm_free_job_info_msg(jobs);
	return found;
}

static int end_job(struct osp_controller_question *question)
{
	char task[32];

	if (array_task(question->job_id, task, sizeof(task)))
		return slurm_kill_job2(task, SIGKILL, 0, NULL);
	return slurm_kill_job(question->job_id, SIGKILL, 0);
}

int osp_controller_end(uint32_t job_id, uint64_t until_ms)
{
	struct osp_controller_question question = {.ask = end_job, .job_id = job_id};

	return osp_controller_ask(&question, until_ms, NULL);
}

static int change_job(struct osp_controller_question *question)
{
	job_desc_msg_t update;

	slurm_init_job_desc_msg(&update);
#ifdef HAVE_JOB_DESC_MSG_T_JOB_ID
	update.job_id = question->job_id;
#else
	update.step_id.job_id = question->job_id;
#endif
	update.req_nodes = question->words[0];
	update.exc_nodes = question->words[1];
	update.admin_comment = question->words[2];
	return slurm_update_job(&update);
}

int osp_controller_change(uint32_t job_id, const struct osp_controller_change *change,
			  uint64_t until_ms)
{
	struct osp_controller_question question = {
		.ask = change_job,
		.job_id = job_id,
		.words = {(char *)change->nodes, (char *)change->excluded,
			  (char *)change->admin_comment},
	};

	return osp_controller_ask(&question, until_ms, NULL);
}

static int notify_job(struct osp_controller_question *question)
{
	return slurm_notify_job(question->job_id, question->words[0]);
}

int osp_controller_notify(uint32_t job_id, const char *words, uint64_t until_ms)
{
	struct osp_controller_question question = {
		.ask = notify_job, .job_id = job_id, .words = {(char *)words}};

	return osp_controller_ask(&question, until_ms, NULL);
}
