/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_set.c - `onespine set`: gives a pending gang another request
 *
 * The request travels as the SPANK option would, in the environment of a job update that changes
 * nothing else; job_submit_onespine.so takes it from there.
 */
#include "onespine_config.h"
#include "tools/command.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/note.h"
#include "lib/request.h"
#include "tools/cluster_state.h"

#ifdef HAVE_JOB_ARRAY_RESP_MSG_T_ERR_MSG
#define WORDS_OF(response, i) ((response)->err_msg ? (response)->err_msg[i] : NULL)
#else
#define WORDS_OF(response, i) NULL
#endif

/* The first refusal among the answers for an array's tasks; 0 when there is none. */
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

/* The sentence of a refusal, where it came in the answer or our plugin left it in the job. */
static int send_request(char *label, const char *value, struct osp_error *error)
{
	char entry[128];
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
		code = errno ? errno : slurm_get_errno();
	else
		code = first_refusal(response, &words);
	if (code)
		osp_error_set(error, "job %s: %s", label,
			      words && *words ? words : slurm_strerror(code));
	if (response)
		slurm_free_job_array_resp(response);
	return code;
}

static int print_answer(const char *label, const char *value, const char *refusal, bool as_json)
{
	int status = refusal ? OSP_EXIT_NO : OSP_EXIT_YES;
	json_t *root;

	if (as_json) {
		root = json_object();
		json_object_set_new(root, "job", osp_json_string(label));
		json_object_set_new(root, "request", osp_json_string(value));
		json_object_set_new(root, "done", json_boolean(!refusal));
		if (refusal)
			json_object_set_new(root, "says", osp_json_string(refusal));
		return osp_print_json(root, status);
	}
	if (refusal)
		printf("refused: %s\n", refusal);
	else if (strcmp(value, "off") == 0)
		printf("job %s is no gang any more\n", label);
	else
		printf("job %s now asks for --gang=%s\n", label, value);
	return status;
}

/* Could slurmctld not be asked at all? Then it is no answer. */
static bool unreachable(int code)
{
	return code == SLURM_COMMUNICATIONS_CONNECTION_ERROR ||
	       code == SLURM_COMMUNICATIONS_SEND_ERROR ||
	       code == SLURM_COMMUNICATIONS_RECEIVE_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR ||
	       code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR ||
	       code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT || code == ESLURM_IN_STANDBY_MODE;
}

int osp_run_set(const struct osp_call *call)
{
	const char *value = call->values[OSP_OPTION_SET_GANG];
	struct osp_request request = {.relax_s = -1};
	struct osp_error error = {.text = ""};
	int code;

	if (!value)
		osp_error_set(&error, "onespine set needs --gang=LEVEL, --gang=LEVEL@TIME or "
				      "--gang=off");
	else if (osp_request_parse(value, &request, &error) == 0 && !osp_slurm_configured())
		osp_error_set(&error, "no slurm.conf found; set SLURM_CONF");
	if (*error.text)
		return osp_say_error(&error);
	osp_slurm_begin();
	osp_progress_begin("asking slurmctld");
	code = send_request(call->arguments[0], value, &error);
	osp_progress_end();
	if (unreachable(code))
		return osp_say_error(&error);
	return print_answer(call->arguments[0], value, code ? error.text : NULL,
			    call->values[OSP_OPTION_JSON]);
}
