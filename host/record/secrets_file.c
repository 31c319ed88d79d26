/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secrets_file.c - the file of the gate's keys on this host */
#include "onespine_config.h"
#include "host/record/secrets_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/files.h"

/* Returns whether nobody but the caller can read or write it. */
static int check_status(int file, const char *path, struct osp_error *error)
{
	struct stat status;

	if (fstat(file, &status) < 0)
		return osp_error_at(error, path, 0, 0, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return osp_error_at(error, path, 0, 0, "a regular file is expected");
	if (status.st_uid != geteuid())
		return osp_error_at(error, path, 0, 0,
				    "it belongs to user %u, and a key is obeyed of user %u alone "
				    "(chown)",
				    (unsigned int)status.st_uid, (unsigned int)geteuid());
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return osp_error_at(error, path, 0, 0,
				    "others may read or write it: who reads a key is root to the "
				    "gate (chmod 600, then a new key)");
	return 0;
}

/* Reads at most one byte more than the file may have. */
static int read_text(const char *path, char text[OSP_SECRETS_FILE_MAX + 2], size_t *text_bytes,
		     struct osp_error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	ssize_t count;

	if (file < 0)
		return osp_error_at(error, path, 0, 0, "%s", strerror(errno));
	if (check_status(file, path, error)) {
		close(file);
		return -1;
	}
	do {
		count = read(file, text + length, OSP_SECRETS_FILE_MAX + 1 - length);
		length += count > 0 ? (size_t)count : 0;
	} while (count > 0 || (count < 0 && errno == EINTR));
	if (count < 0)
		osp_error_at(error, path, 0, 0, "%s", strerror(errno));
	close(file);
	text[length] = '\0';
	*text_bytes = length;
	return count < 0 ? -1 : 0;
}

int osp_secrets_load(const char *path, struct osp_secrets *secrets, struct osp_error *error)
{
	char text[OSP_SECRETS_FILE_MAX + 2];
	size_t text_bytes = 0;
	int rc;

	memset(secrets, 0, sizeof(*secrets));
	rc = read_text(path, text, &text_bytes, error);
	if (!rc)
		rc = osp_secrets_read(path, text, text_bytes, secrets, error);
	explicit_bzero(text, sizeof(text));
	return rc;
}

int osp_secrets_save(const char *path, const struct osp_secrets *secrets, struct osp_error *error)
{
	struct stat like = {.st_uid = geteuid(), .st_gid = getegid()};
	char *text = osp_secrets_text(secrets);
	int rc;

	if (!text)
		return osp_error_set(error, "out of memory");
	rc = access(path, F_OK) == 0 ? osp_write_output(path, text, strlen(text), error)
				     : osp_write_new(path, text, strlen(text), &like, 0600, error);
	osp_secrets_text_free(text);
	return rc;
}

/* Chooses a name that is free: the day, then the day with a letter. */
static const char *new_name(const struct osp_secrets *secrets, char name[OSP_SECRET_NAME_BYTES])
{
	time_t now = time(NULL);
	struct tm local;

	if (!localtime_r(&now, &local) ||
	    !strftime(name, OSP_SECRET_NAME_BYTES, "%Y-%m-%d", &local))
		snprintf(name, OSP_SECRET_NAME_BYTES, "key");
	for (char letter = 'b'; osp_secrets_find(secrets, name, strlen(name)); letter++) {
		size_t length = strcspn(name, ".");

		snprintf(name + length, OSP_SECRET_NAME_BYTES - length, ".%c", letter);
	}
	return name;
}

int osp_secrets_add_new(struct osp_secrets *secrets, const char *name, struct osp_error *error)
{
	char day[OSP_SECRET_NAME_BYTES];
	uint8_t key[OSP_SECRET_BYTES];
	int rc;

	if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return osp_error_set(error, "no random numbers: %s", strerror(errno));
	rc = osp_secrets_add(secrets, name ? name : new_name(secrets, day), key, error);
	explicit_bzero(key, sizeof(key));
	return rc;
}
