/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_policy.c - onespine.yaml in force on a node */
#include "onespine_config.h"
#include "lib/policy/node_policy.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/trust.h"
#include "lib/conf/slurm_conf.h"
#include "lib/policy/config.h"

#define MARK	   "#|"
#define MARK_BYTES (sizeof(MARK) - 1)

/* --- comments of slurm.conf ------------------------------------------------------------------- */

/* Returns the length of the line at `at`, with its newline. */
static size_t line_bytes(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? (size_t)(newline - at) + 1 : (size_t)(end - at);
}

void osp_node_policy_hide(const char *yaml, size_t yaml_bytes, struct osp_text *text)
{
	const char *end = yaml + yaml_bytes;

	for (const char *at = yaml; at < end; at += line_bytes(at, end)) {
		size_t bytes = line_bytes(at, end);

		osp_text_add(text, *at == '\n' ? MARK : MARK " ");
		osp_text_add_bytes(text, at, bytes);
		if (at[bytes - 1] != '\n')
			osp_text_add(text, "\n");
	}
}

/* Returns the text after the mark and one blank, or NULL if the line has no mark. */
static const char *after_mark(const char *line, size_t bytes)
{
	if (bytes < MARK_BYTES || memcmp(line, MARK, MARK_BYTES) != 0)
		return NULL;
	line += MARK_BYTES;
	return bytes > MARK_BYTES && *line == ' ' ? line + 1 : line;
}

char *osp_node_policy_reveal(const char *text, size_t text_bytes, size_t *yaml_bytes)
{
	const char *end = text + text_bytes;
	struct osp_text yaml = OSP_TEXT_INIT;
	bool found = false;
	char *taken;

	for (const char *at = text; at < end; at += line_bytes(at, end)) {
		size_t bytes = line_bytes(at, end);
		const char *hidden = after_mark(at, bytes);

		found = found || hidden;
		if (hidden)
			osp_text_add_bytes(&yaml, hidden, bytes - (size_t)(hidden - at));
		else
			osp_text_add(&yaml, "\n");
	}
	*yaml_bytes = yaml.length_bytes;
	taken = osp_text_take(&yaml);
	errno = taken ? ENOENT : ENOMEM;
	if (taken && !found) {
		free(taken);
		return NULL;
	}
	return taken;
}

/* --- files ------------------------------------------------------------------------------------ */

void osp_node_policy_free(struct osp_node_policy *policy)
{
	free(policy->file);
	free(policy->text);
	*policy = (struct osp_node_policy){.file = NULL};
}

/* Replaces the text by the policy hidden in it. */
static int reveal(struct osp_node_policy *policy)
{
	size_t bytes = 0;
	char *yaml = osp_node_policy_reveal(policy->text, policy->text_bytes, &bytes);

	free(policy->text);
	policy->text = yaml;
	policy->text_bytes = bytes;
	return yaml ? 1 : errno == ENOENT ? 0 : -1;
}

/* Reads one file in a folder; otherwise as osp_node_policy_read(). */
static int read_one(const char *folder, size_t folder_bytes, const char *name,
		    struct osp_node_policy *policy, struct osp_error *error)
{
	bool hidden = strcmp(name, OSP_PIECE_NAME) == 0;
	int result = 1;

	if (asprintf(&policy->file, "%.*s/%s", (int)folder_bytes, folder, name) < 0) {
		policy->file = NULL;
		return osp_error_set(error, "out of memory");
	}
	policy->text = osp_read_file(policy->file,
				     hidden ? OSP_SLURM_CONF_BYTES_MAX : OSP_CONFIG_FILE_BYTES_MAX,
				     &policy->text_bytes);
	if (!policy->text)
		result = errno == ENOENT ? 0 : -1;
	else if (hidden)
		result = reveal(policy);
	if (result < 0)
		osp_error_at(error, policy->file, 0, 0, "cannot be read: %s", strerror(errno));
	else if (!result)
		osp_node_policy_free(policy);
	return result;
}

int osp_node_policy_read(const char *slurm_conf, const char *site, struct osp_node_policy *policy,
			 struct osp_error *error)
{
	const char *slash = slurm_conf ? strrchr(slurm_conf, '/') : NULL;
	size_t bytes = slash ? (size_t)(slash - slurm_conf) : 0;
	int result = 0;

	if (slash)
		result = read_one(slurm_conf, bytes, OSP_CONFIG_NAME, policy, error);
	if (slash && !result)
		result = read_one(slurm_conf, bytes, OSP_PIECE_NAME, policy, error);
	if (site && !result)
		result = read_one(site, strlen(site), OSP_CONFIG_NAME, policy, error);
	return result;
}

/* --- whose they are --------------------------------------------------------------------------- */

static char *read_conf(void *context, const char *path, size_t *text_bytes, struct osp_error *error)
{
	char *text = osp_read_file(path, OSP_SLURM_CONF_BYTES_MAX, text_bytes);

	(void)context;
	if (!text)
		osp_error_at(error, path, 0, 0, "cannot be read: %s", strerror(errno));
	return text;
}

/* Returns whether SlurmUser=, a name or a number, means `owner`. */
static bool is_slurm_user(uid_t owner, const char *slurm_conf)
{
	struct osp_error ignored = {.text = ""};
	struct osp_slurm_conf *conf = osp_slurm_conf_read(slurm_conf, read_conf, NULL, &ignored);
	const char *name = conf ? osp_slurm_conf_value(conf, "SlurmUser", "root") : "root";
	struct passwd entry, *found = NULL;
	char number[24], buffer[4096];
	size_t length = strcspn(name, "(");
	bool is;

	snprintf(number, sizeof(number), "%lu", (unsigned long)owner);
	is = strlen(number) == length && strncmp(name, number, length) == 0;
	if (!is && getpwuid_r(owner, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		is = strlen(found->pw_name) == length && strncmp(name, found->pw_name, length) == 0;
	osp_slurm_conf_free(conf);
	return is;
}

int osp_policy_trusted(const char *file, const char *slurm_conf, struct osp_error *error)
{
	struct stat status, conf;
	const char *why;
	uid_t owner = geteuid();

	if (stat(file, &status) < 0)
		return osp_error_at(error, file, 0, 0, "cannot be looked at: %s", strerror(errno));
	if (slurm_conf && status.st_uid != 0 && status.st_uid != owner &&
	    ((stat(slurm_conf, &conf) == 0 && conf.st_uid == status.st_uid) ||
	     is_slurm_user(status.st_uid, slurm_conf)))
		owner = status.st_uid;
	why = osp_distrust(&status, owner);
	return why ? osp_error_at(error, file, 0, 0, "%s", why) : 0;
}
