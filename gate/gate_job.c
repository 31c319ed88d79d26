/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_job.c - the job that this Prolog is for, its gang, its policy, and where its nodes are */
#include "onespine_config.h"
#include "gate/gate_job.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/base/gpus.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/policy/job_options.h"
#include "lib/policy/node_policy.h"
#include "lib/policy/promise.h"
#include "lib/policy/request.h"
#include "host/files.h"
#include "host/record/history_line.h"
#include "host/record/secrets_file.h"
#include "host/slurm/slurm_files.h"
#include "lib/conf/clustermgtd.h"
#include "lib/conf/slurm_conf_path.h"

#define DEPTH_WISH	 "SPANK_" OSP_JOB_ENTRY(gang_check)
#define EFFECTIVE_SPARES "SPANK_" OSP_EFFECTIVE_SPARES_NAME
#define SEGMENT_SPARES	 "SPANK_" OSP_EFFECTIVE_SEGMENT_SPARES_NAME
#define SEGMENTS	 "SPANK_" OSP_EFFECTIVE_SEGMENTS_NAME
#define PLACED		 "SPANK_" OSP_PLACED_INSTANCES_NAME
#define UNKNOWN_GPUS	 "SPANK_" OSP_UNKNOWN_GPUS_NAME

static struct osp_slurm_conf *configuration; /* NULL: there is no file, or it cannot be read */

/* Finds AuthInfo=socket=PATH,ttl=... */
static void find_munge_socket(struct osp_gate_job *job, const struct osp_slurm_conf *conf)
{
	osp_munge_socket(conf, job->munge_socket, sizeof(job->munge_socket));
}

/* Chooses the file that onespine.yaml names, or the usual one if Slurm has no MUNGE. */
static void choose_key_file(struct osp_gate_job *job, const char *named, const char *usual)
{
	const char *file = osp_key_file(configuration, named, usual);

	if (file)
		snprintf(job->key_file, sizeof(job->key_file), "%s%s", job->root, file);
}

/* --- onespine.yaml ---------------------------------------------------------------------------- */

/* Checks that the file which says how deep to look is root's, and nobody else's to write. */
static int owned_by_root(const char *path, struct osp_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return osp_error_set(error, "%s cannot be looked at", path);
	if (status.st_uid != 0 || status.st_mode & (S_IWGRP | S_IWOTH))
		return osp_error_set(error, "%s must belong to root, and nobody else may write it",
				     path);
	return 0;
}

/* Reads the file or, if it is missing or refused, the built-in values. */
static int read_config(struct osp_gate_job *job, const char *slurm_conf, struct osp_error *error)
{
	struct osp_node_policy found = {.file = NULL};
	int result = osp_node_policy_read(slurm_conf, OSP_SITE_DIR, &found, &job->refused);

	if (found.file)
		snprintf(job->config_file, sizeof(job->config_file), "%s", found.file);
	if (result > 0 && owned_by_root(found.file, &job->refused) == 0)
		job->config = osp_config_read(job->config_file, found.text, found.text_bytes,
					      &job->refused);
	osp_node_policy_free(&found);
	if (!job->config)
		job->config = osp_config_read(NULL, "", 0, error);
	return job->config ? 0 : -1;
}

/* --- the gang --------------------------------------------------------------------------------- */

static int read_number(const char *name, uint32_t *number, struct osp_error *error)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (*end || *text < '0' || *text > '9' || value > UINT32_MAX)
		return osp_error_set(error, "%s=%.40s: a number is expected", name, text);
	*number = (uint32_t)value;
	return 0;
}

static int add_name(const char *name, void *context)
{
	struct osp_gate_job *job = context;

	if (job->gang.node_count == OSP_GATE_NODES_MAX || strlen(name) >= OSP_GATE_NAME_BYTES)
		return 1;
	job->names[job->gang.node_count] = strdup(name);
	return job->names[job->gang.node_count++] ? 0 : 1;
}

static int read_nodes(struct osp_gate_job *job, struct osp_error *error)
{
	const char *list = getenv("SLURM_NODELIST"); /* SLURM_JOB_NODELIST is empty in 22.05 */
	const char *node = getenv("SLURMD_NODENAME");

	if (!list || !*list)
		list = getenv("SLURM_JOB_NODELIST");
	if (!list || !*list || !node)
		return osp_error_set(error,
				     "SLURM_NODELIST and SLURMD_NODENAME are expected in the "
				     "environment: this runs in slurmd's Prolog");
	job->names = calloc(OSP_GATE_NODES_MAX, sizeof(*job->names));
	if (!job->names)
		return osp_error_set(error, "out of memory");
	switch (osp_hostlist_expand(list, add_name, job, error)) {
	case 0:
		break;
	case 1:
		return osp_error_set(error,
				     "SLURM_NODELIST names more than %d nodes, or longer names "
				     "than %d letters",
				     OSP_GATE_NODES_MAX, OSP_GATE_NAME_BYTES - 1);
	default:
		return -1;
	}
	snprintf(job->node, sizeof(job->node), "%s", node);
	job->gang.nodes = (const char *const *)job->names;
	job->gang.rank = OSP_GATE_NOBODY;
	for (uint32_t i = 0; i < job->gang.node_count; i++)
		if (!strcmp(job->names[i], node))
			job->gang.rank = i;
	if (job->gang.rank == OSP_GATE_NOBODY)
		return osp_error_set(error, "SLURM_NODELIST=%.100s does not name this node, %s",
				     list, node);
	return 0;
}

/* Reads the number of spares from job_submit, which removes a user's own value of that name. If
 * job_submit is not in use, the value may be a user's, and counts for nothing. */
static void read_spares(struct osp_gate_job *job, const struct osp_slurm_conf *conf)
{
	const char *plugins = osp_slurm_conf_value(conf, "JobSubmitPlugins", NULL);
	struct osp_gate_gang *gang = &job->gang;
	uint32_t spares = 0;

	if (!(osp_slurm_list_has(plugins, "onespine", NULL, 0) ||
	      osp_slurm_list_has(plugins, "job_submit/onespine", NULL, 0)) ||
	    read_number(EFFECTIVE_SPARES, &spares, NULL) || spares > job->policy->spares_max ||
	    spares >= gang->node_count)
		spares = 0;
	if (!spares || read_number(SEGMENT_SPARES, &gang->segment_spares, NULL))
		gang->segment_spares = 0;
	gang->segments = gang->segment_spares ? getenv(SEGMENTS) : NULL;
	gang->spares = spares;
	gang->wanted = gang->node_count - spares;
}

static int is_same_name(const char *name, void *context)
{
	return strcmp(name, context) == 0;
}

/* Returns how many GPUs slurm.conf gives this node; 0: it does not say. */
static uint64_t counted_gpus(const struct osp_gate_job *job)
{
	const char *gres = configuration
				   ? osp_slurm_conf_of_node(configuration, job->node, "Gres", NULL)
				   : NULL;

	return gres && !strchr(gres, '(') ? osp_gpus_asked(gres) : 0;
}

/* Reads which GPUs of this node the job has. If Slurm has chosen none of those that it counted, the
 * shadow says so (sched/shadow_gpus.c). */
static void read_gpus(struct osp_gate_job *job)
{
	const char *nodes = getenv(UNKNOWN_GPUS);
	struct osp_gate_gang *gang = &job->gang;

	gang->gpus = getenv("SLURM_JOB_GPUS");
	if (gang->gpus && !*gang->gpus)
		gang->gpus = NULL;
	job->gpus_unknown = !gang->gpus && nodes && *nodes &&
			    osp_hostlist_expand(nodes, is_same_name, job->node, NULL) == 1;
	if (!gang->gpus || !osp_gpu_numbers_unsure(job->root, gang->gpus, counted_gpus(job)))
		return;
	gang->gpus = NULL;
	job->gpus_unknown = job->numbers_unsure = true;
}

/*
 * Reads the wish for more depth. Anybody can write it, so it only ever adds. If the job's own GPUs
 * are not known, all of the node's are looked at, which may be another job's: they are not loaded.
 */
static void read_depth(struct osp_gate_job *job)
{
	const char *wish = getenv(DEPTH_WISH);
	enum osp_gate_depth depth;

	job->depth = job->policy->depth;
	if (wish && osp_gate_depth_parse(wish, &depth) == 0 && depth > job->depth &&
	    depth < OSP_GATE_FULL)
		job->depth = depth;
	if (!job->gang.gpus && job->depth > OSP_GATE_PASSIVE)
		job->depth = OSP_GATE_PASSIVE;
}

/* Begins with what does not depend on a job. Returns slurm.conf's path; NULL: there is none. */
static const char *begin(struct osp_gate_job *job)
{
	const char *slurm_conf = getenv("SLURM_CONF"), *root = getenv("ONESPINE_TEST_ROOT");

	memset(job, 0, sizeof(*job));
	/* slurmd builds the Prolog's environment from nothing, and what users add has a prefix. */
	job->root = root ? root : "";
	return !slurm_conf && !root ? osp_slurm_conf_first() : slurm_conf;
}

int osp_gate_node_read(struct osp_gate_job *job, struct osp_error *error)
{
	const char *slurm_conf = begin(job);
	struct osp_identity identity;

	osp_identity_read(job->root, &identity);
	snprintf(job->node, sizeof(job->node), "%.*s", OSP_GATE_NAME_BYTES - 1, identity.node);
	if (read_config(job, slurm_conf, error))
		return -1;
	configuration = slurm_conf ? osp_load_slurm_conf(slurm_conf, NULL, error) : NULL;
	if (!configuration)
		return osp_error_set(error, "slurm.conf is not found");
	find_munge_socket(job, configuration);
	choose_key_file(job, osp_config_watch(job->config)->report_key_file, OSP_REPORT_KEY_PATH);
	return 0;
}

int osp_gate_job_read(struct osp_gate_job *job, struct osp_error *error)
{
	const char *slurm_conf = begin(job);
	struct osp_gate_gang *gang = &job->gang;

	if (!getenv("SLURM_JOB_ID"))
		return osp_error_set(error,
				     "SLURM_JOB_ID is expected in the environment: this runs "
				     "in slurmd's Prolog");
	if (read_number("SLURM_JOB_ID", &gang->job, error) ||
	    read_number("SLURM_HET_JOB_ID", &gang->het_job, error) ||
	    read_number("SLURM_JOB_RESTART_COUNT", &gang->restarts, error) ||
	    read_number("SLURM_JOB_UID", &gang->uid, error) ||
	    read_config(job, slurm_conf, error) || read_nodes(job, error))
		return -1;
	gang->partition = getenv("SLURM_JOB_PARTITION");
	job->policy = osp_config_gate(job->config, gang->partition);
	gang->wanted = gang->node_count;
	configuration = slurm_conf ? osp_load_slurm_conf(slurm_conf, NULL, NULL) : NULL;
	if (configuration) {
		read_spares(job, configuration);
		find_munge_socket(job, configuration);
		job->clustermgtd = osp_has_clustermgtd(configuration);
	}
	choose_key_file(job, job->policy->key_file, OSP_SECRETS_PATH);
	read_gpus(job);
	read_depth(job);
	job->placed = getenv(PLACED); /* a user's own could stop his own job only */
	return 0;
}

void osp_gate_job_free(struct osp_gate_job *job)
{
	for (uint32_t i = 0; i < job->gang.node_count; i++)
		free(job->names[i]);
	free(job->names);
	osp_config_free(job->config);
	osp_slurm_conf_free(configuration);
	configuration = NULL;
	memset(job, 0, sizeof(*job));
}

bool osp_gate_job_wanted(const struct osp_gate_job *job)
{
	return job->depth != OSP_GATE_OFF &&
	       (job->gang.gpus || job->gpus_unknown || job->policy->all_jobs || job->gang.spares);
}

/* Returns whether slurm.conf may give the node GPUs that nobody chose for the job. GPUs of a
 * node that slurm.conf does not name came with its slurmd. */
bool osp_gate_job_unsaid(const struct osp_gate_job *job)
{
	const char *gres;

	if (!configuration || job->depth == OSP_GATE_OFF || osp_gate_job_wanted(job) ||
	    !osp_slurm_list_has(osp_slurm_conf_value(configuration, "GresTypes", NULL), "gpu", NULL,
				0))
		return false;
	gres = osp_slurm_conf_of_node(configuration, job->node, "Gres", "gpu");
	return gres && strcasestr(gres, "gpu");
}

/* --- addresses -------------------------------------------------------------------------------- */

/*
 * Returns NodeAddr as libslurm knows it, by what slurmd was given, if slurm.conf's own lines lack
 * it. Every release from 22.05 to 26.05 exports the function, none declares it. It reads all of
 * slurm.conf before it answers, which takes longer than all the rest of a gate's loop.
 */
static char *slurm_address(const char *node)
{
	static char *(*get_address)(const char *node_name);
	static bool looked;

	if (!looked) {
		void *symbol = dlsym(RTLD_DEFAULT, "slurm_conf_get_address");

		memcpy(&get_address, &symbol, sizeof(get_address));
		looked = true;
	}
	return get_address ? get_address(node) : NULL;
}

/* Returns 0, or getaddrinfo()'s answer. */
static int look_up(const char *name, struct sockaddr_storage *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found = NULL;
	int state = getaddrinfo(name, NULL, &hints, &found);

	if (state == EAI_NONAME) {
		hints.ai_flags = AI_ADDRCONFIG;
		state = getaddrinfo(name, NULL, &hints, &found);
	}
	if (state)
		return state;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

int osp_gate_address(const char *node, struct sockaddr_storage *address, struct osp_error *error)
{
	const char *name = NULL;
	char buffer[256];
	int state;

	if (configuration)
		name = osp_slurm_conf_address(configuration, node, buffer, sizeof(buffer));
	if (!name)
		name = slurm_address(node); /* Slurm's memory: a few bytes, kept */
	state = look_up(name ? name : node, address);
	return state ? osp_error_set(error, "the address of %s (%s) is not found: %s", node,
				     name ? name : node, gai_strerror(state))
		     : 0;
}

/* Reads "HOST", "HOST(ADDRESS)" or "HOST,HOST". */
static void read_controller(const char *value, struct osp_gate_controller *controller)
{
	const char *open = strchr(value, '(');

	snprintf(controller->host, sizeof(controller->host), "%.*s", (int)strcspn(value, "(,"),
		 value);
	controller->state = open ? -1 : look_up(controller->host, &controller->address);
	if (open) {
		char address[256];

		snprintf(address, sizeof(address), "%.*s", (int)strcspn(open + 1, ")"), open + 1);
		controller->state = look_up(address, &controller->address);
	}
}

uint32_t osp_gate_controllers(struct osp_gate_controller *list, uint32_t most)
{
	uint32_t used = 0;
	size_t count = 0;
	const struct osp_slurm_word *words =
		configuration ? osp_slurm_conf_words(configuration, &count) : NULL;

	for (size_t i = 0; i < count && used < most; i++) {
		if (words[i].starts_line && (!strcasecmp(words[i].key, "SlurmctldHost") ||
					     !strcasecmp(words[i].key, "ControlMachine")))
			read_controller(words[i].value, &list[used++]);
	}
	return used;
}

uid_t osp_gate_slurm_user(void)
{
	return configuration ? osp_slurm_user(configuration) : 0;
}
