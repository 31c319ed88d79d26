/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_origin.c - the variables that asked for what slurmctld refuses */
#include "sched/job_origin.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/policy/request.h"

#define VALUE_SHOWN 40 /* bytes of a variable's value */

/* Returns whether a list of words with blanks between them has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

/* Returns the value of an option that a variable gave; NULL if the command line did, or none. */
static const char *value_by_variable(const job_desc_msg_t *job,
				     const struct osp_our_environment *ours,
				     enum osp_job_option_id id)
{
	const struct osp_job_option *option = osp_job_option(id);
	const char *list = osp_job_env_find(job->spank_job_env, job->spank_job_env_size,
					    OSP_SPANK_BY_VARIABLE "=");
	const char *value;
	char name[96];

	snprintf(name, sizeof(name), "%s=", option->entry);
	value = osp_job_env_find(job->spank_job_env, job->spank_job_env_size, name);
	if (!value)
		return ours->values[id];
	return list && has_word(list, option->name) ? value : NULL;
}

/* Returns whether the sentence mentions "--NAME", and not the beginning of a longer name. */
static bool mentions(const char *sentence, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(sentence, "--"); at; at = strstr(at + 2, "--")) {
		const char *end = at + 2 + length;

		if (!strncmp(at + 2, name, length) && *end != '-' && !isalnum((unsigned char)*end))
			return true;
	}
	return false;
}

/* Returns whether the option itself makes a gang, or says which. */
static bool makes_gang(enum osp_job_option_id id, const char *value)
{
	return (id == OSP_JOB_GANG && strcasecmp(value, "off") != 0) ||
	       id == OSP_JOB_GANG_DOMAINS || id == OSP_JOB_GANG_SEGMENT ||
	       id == OSP_JOB_GANG_LAYOUT || id == OSP_JOB_GANG_KEEP;
}

const char *osp_job_origin_add(const job_desc_msg_t *job, const struct osp_our_environment *ours,
			       const char *sentence, char *buffer, size_t buffer_bytes)
{
	bool of_option = !strncmp(sentence, "--gang", strlen("--gang"));
	size_t used = 0;

	*buffer = '\0';
	for (int i = 0; i < OSP_JOB_OPTION_COUNT; i++) {
		enum osp_job_option_id id = (enum osp_job_option_id)i;
		const struct osp_job_option *option = osp_job_option(id);
		const char *value = value_by_variable(job, ours, id);
		bool with_value = value && *value && !of_option;

		if (!value || !strncmp(sentence, option->variable, strlen(option->variable)) ||
		    !(mentions(sentence, option->name) || (makes_gang(id, value) && !of_option)))
			continue;
		used += (size_t)snprintf(buffer + used, buffer_bytes - used, "%s%s%s%.*s",
					 used ? " " : "", option->variable, with_value ? "=" : "",
					 with_value ? VALUE_SHOWN : 0, value);
		if (used >= buffer_bytes)
			return buffer;
	}
	snprintf(buffer + used, buffer_bytes - used, "%s%s", used ? ": " : "", sentence);
	return buffer;
}
