/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_set.c - `onespine set`: gives a pending gang another request
 *
 * The request travels as the SPANK option would, in the environment of a job update that changes
 * nothing else; job_submit_onespine.so takes it from there.
 */
#include "onespine_config.h"
#include "tools/command/command.h"

#include <errno.h>
#include <pwd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "lib/policy/request.h"
#include "lib/policy/request_parts.h"
#include "lib/policy/sentences.h"
#include "host/slurm/cluster_state.h"
#include "tools/command/fit_environment.h"
#include "tools/command/fit_sbatch.h"
#include "tools/command/world.h"

#ifdef HAVE_JOB_ARRAY_RESP_MSG_T_ERR_MSG
#define WORDS_OF(response, i) ((response)->err_msg ? (response)->err_msg[i] : NULL)
#else
#define WORDS_OF(response, i) NULL
#endif

/* Returns the first refusal among the answers for an array's tasks; 0 if there is none. */
static int first_refusal(const job_array_resp_msg_t *response, const char **words)
{
	uint32_t i;

	for (i = 0; response && i < response->job_array_count; i++) {
		if (response->error_code[i] != SLURM_SUCCESS) {
			*words = WORDS_OF(response, i);
			return (int)response->error_code[i];
		}
	}
	return 0;
}

/* Sends the request. Returns 0, or Slurm's error with its words in `error`. *has_words: they came
 * from slurmctld, not from a table of errors. */
static int send_request(char *label, const char *value, bool *has_words, struct osp_error *error)
{
	char entry[sizeof(OSP_SPANK_GANG) + OSP_REQUEST_BYTES];
	char *environment[2] = {entry, NULL};
	job_array_resp_msg_t *response = NULL;
	const char *words = NULL;
	job_desc_msg_t update;
	int code;

	snprintf(entry, sizeof(entry), "%s%s", OSP_SPANK_GANG, value);
	slurm_init_job_desc_msg(&update);
	update.job_id_str = label;
	update.spank_job_env = environment;
	update.spank_job_env_size = 1;
	errno = 0;
	code = slurm_update_job2(&update, &response);
	if (code != SLURM_SUCCESS)
		code = errno;
	else
		code = first_refusal(response, &words);
	*has_words = words && *words;
	if (code)
		osp_error_set(error, "job %s: %s", label,
			      *has_words ? words : slurm_strerror(code));
	if (response)
		slurm_free_job_array_resp(response);
	return code;
}

/* --- why it was refused, where slurmctld sends no words --------------------------------------- */

/* Asks sbatch --test-only for the same request, to learn why it is refused: job_submit judges both
 * alike. */
static void ask_sbatch(const struct osp_call *call, const struct osp_state_job *job,
		       struct osp_error *error)
{
	static const enum osp_option_id parts[] = {OSP_OPTION_GANG_DOMAINS, OSP_OPTION_GANG_SEGMENT,
						   OSP_OPTION_GANG_LAYOUT, OSP_OPTION_GANG_KEEP};
	struct osp_call asked = {.command = OSP_FIT};
	struct osp_sbatch_answer answer;
	struct osp_error ignored;
	char nodes[32];

	snprintf(nodes, sizeof(nodes), "%u-%u", job->node_count,
		 job->node_most > job->node_count ? job->node_most : job->node_count);
	asked.values[OSP_OPTION_NODES] = nodes;
	asked.values[OSP_OPTION_PARTITION] = job->partition;
	asked.values[OSP_OPTION_NODELIST] = job->required_nodes;
	asked.values[OSP_OPTION_EXCLUDE] = job->excluded_nodes;
	asked.values[OSP_OPTION_FIT_GRES] = job->gres;
	asked.values[OSP_OPTION_GANG] = call->values[OSP_OPTION_SET_GANG];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		asked.values[parts[i]] = call->values[parts[i]];
	osp_fit_forget_environment();
	if (osp_fit_ask_sbatch(&asked, &answer, &ignored) < 0)
		return;
	if (answer.result == OSP_SBATCH_REFUSED && *answer.reason)
		osp_error_set(error, "%s", answer.reason);
	free(answer.nodes);
}

static void explain(const struct osp_call *call, const struct osp_world *world,
		    struct osp_error *error)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct osp_state_job *job =
		osp_snapshot_find_job(world->snapshot, call->arguments[0]);

	if (!job)
		return;
	if (job->phase != OSP_JOB_PENDING)
		osp_error_set(error,
			      "job %s is not pending; a gang can be changed only before it starts",
			      job->label);
	else if (geteuid() != 0 && user && job->user && strcmp(user->pw_name, job->user) != 0)
		osp_error_set(error,
			      "job %s is not yours; its owner or an operator may change its gang",
			      job->label);
	else
		ask_sbatch(call, job, error);
}

/* Finds the reason itself, because releases before 23.02 send only the number of an error. */
static void find_words(const struct osp_call *call, struct osp_error *error)
{
	struct osp_error found = {.text = ""};
	struct osp_error other = {.text = ""};
	struct osp_world world;

	if (osp_call_world(call, &world, &other) == 0)
		explain(call, &world, &found);
	osp_world_close(&world);
	if (*found.text)
		*error = found;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Finds what its segments leave of a domain, and what the last one has; "" where nothing is to be
 * said, or the job or the fabric is not found. */
static void find_left(const struct osp_call *call, const struct osp_request *request, char *words,
		      size_t words_bytes)
{
	const struct osp_state_job *job = NULL;
	struct osp_segments segments;
	struct osp_world world = {.topology = NULL};
	struct osp_error ignored = {.text = ""};
	int level = 0;

	words[0] = '\0';
	if (!*request->segments)
		return;
	if (osp_call_world(call, &world, &ignored) == 0)
		job = osp_snapshot_find_job(world.snapshot, call->arguments[0]);
	if (job && world.topology)
		level = *request->level ? osp_topology_level(world.topology, request->level)
					: (int)osp_topology_level_count(world.topology);
	if (level > 0 && osp_segments_parse(request->segments, world.topology, (uint32_t)level,
					    &segments, &ignored) == 0)
		osp_sentence_segments_left(world.topology, &segments, job->node_count, words,
					   words_bytes);
	osp_world_close(&world);
}

static int print_answer(const char *label, const char *value, const char *refusal, const char *left,
			bool as_json)
{
	int status = refusal ? OSP_EXIT_NO : OSP_EXIT_YES;
	char words[128];
	json_t *root;

	if (as_json) {
		root = json_object();
		json_object_set_new(root, "job", osp_json_string(label));
		json_object_set_new(root, "request", osp_json_string(value));
		json_object_set_new(root, "done", json_boolean(!refusal));
		if (refusal)
			json_object_set_new(root, "says", osp_json_string(refusal));
		if (*left)
			json_object_set_new(root, "left", osp_json_string(left));
		return osp_print_json(root, status);
	}
	osp_copy_clean(words, sizeof(words), label);
	if (refusal)
		printf("refused: %s\n", refusal);
	else if (strcmp(value, "off") == 0)
		printf("job %s is no gang any more\n", words);
	else
		printf("job %s now asks for --gang=%s\n", words, value);
	if (*left)
		printf("  %s\n", left);
	return status;
}

/* Returns whether slurmctld could not be asked at all, which is no answer. 22.05 has the unexpected
 * message for that, too. */
static bool unreachable(int code)
{
	return code == SLURM_COMMUNICATIONS_CONNECTION_ERROR ||
	       code == SLURM_COMMUNICATIONS_SEND_ERROR ||
	       code == SLURM_COMMUNICATIONS_RECEIVE_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR ||
	       code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT || code == SLURM_UNEXPECTED_MSG_ERROR ||
	       code == ESLURM_IN_STANDBY_MODE;
}

/* Reads the request of the command line, into `words` if it has parts. Returns NULL with `error`
 * set. */
static const char *read_request(const struct osp_call *call, struct osp_request *request,
				char words[OSP_REQUEST_BYTES], struct osp_error *error)
{
	const char *value = call->values[OSP_OPTION_SET_GANG];
	const struct osp_parts_asked asked = {
		.domains = call->values[OSP_OPTION_GANG_DOMAINS],
		.segments = call->values[OSP_OPTION_GANG_SEGMENT],
		.layout = call->values[OSP_OPTION_GANG_LAYOUT],
		.keep = call->values[OSP_OPTION_GANG_KEEP],
	};

	if (!value) {
		osp_error_set(error, "onespine set needs --gang=LEVEL, --gang=LEVEL@TIME or "
				     "--gang=off");
		return NULL;
	}
	if (osp_request_parse(value, request, error) ||
	    osp_request_add_parts(request, &asked, error))
		return NULL;
	return osp_parts_are_asked(&asked) ? osp_request_format(request, words, OSP_REQUEST_BYTES)
					   : value;
}

int osp_run_set(const struct osp_call *call)
{
	struct osp_request request = {.relax_s = -1};
	struct osp_error error = {.text = ""};
	char parts[OSP_REQUEST_BYTES], left[OSP_SENTENCE_BYTES] = "";
	const char *value = read_request(call, &request, parts, &error);
	bool has_words;
	int code;

	if (value && !osp_slurm_configured())
		osp_error_set(&error, "no slurm.conf found; set SLURM_CONF");
	if (*error.text)
		return osp_say_error(&error);
	osp_slurm_begin();
	osp_progress_begin("asking slurmctld");
	code = send_request(call->arguments[0], value, &has_words, &error);
	osp_progress_end();
	if (unreachable(code))
		return osp_say_error(&error);
	if (code && !has_words)
		find_words(call, &error);
	else if (!code)
		find_left(call, &request, left, sizeof(left));
	return print_answer(call->arguments[0], value, code ? error.text : NULL, left,
			    call->values[OSP_OPTION_JSON]);
}
