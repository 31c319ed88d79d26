/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secrets.c - the file of the keys by which gates know each other, if a cluster has no MUNGE */
#include "lib/gate/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
#define DIGITS	     (2 * OSP_SECRET_BYTES)
#define LINE_BYTES   (OSP_SECRET_NAME_BYTES + DIGITS + 2)
#define FIRST_LINE   "# Onespine: keys of the gate. The first seals; all of them open.\n"

static bool only_letters(const char *name, size_t length)
{
	while (length && *name && strchr(NAME_LETTERS, *name)) {
		name++;
		length--;
	}
	return !length;
}

bool osp_secret_is_name(const char *name, size_t length)
{
	return length && length < OSP_SECRET_NAME_BYTES && only_letters(name, length);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	const char *file;
	int line;
	const char *begin; /* of the line */
	struct osp_error *error;
};

static int refuse(const struct reading *reading, const char *at, const char *expected)
{
	return osp_error_at(reading->error, reading->file, reading->line,
			    (int)(at - reading->begin) + 1, "%s", expected);
}

static int digit(char letter)
{
	const char *digits = "0123456789abcdef", *found;

	if (letter >= 'A' && letter <= 'F')
		letter = (char)(letter - 'A' + 'a');
	found = letter ? strchr(digits, letter) : NULL;
	return found ? (int)(found - digits) : -1;
}

static int read_key(const struct reading *reading, const char *at, size_t length,
		    uint8_t key[OSP_SECRET_BYTES])
{
	if (length != DIGITS)
		return refuse(reading, at, "a key of 64 hexadecimal digits is expected");
	for (size_t i = 0; i < DIGITS; i += 2) {
		int high = digit(at[i]), low = digit(at[i + 1]);

		if (high < 0 || low < 0)
			return refuse(reading, at + i + (high >= 0),
				      "a hexadecimal digit is expected");
		key[i / 2] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static bool is_there(const struct osp_secrets *secrets, const uint8_t key[OSP_SECRET_BYTES])
{
	for (uint32_t i = 0; i < secrets->count; i++)
		if (!memcmp(secrets->list[i].key, key, OSP_SECRET_BYTES))
			return true;
	return false;
}

/* Reads a line of `length` bytes without its end and its comment. */
static int read_line(const struct reading *reading, size_t length, struct osp_secrets *secrets)
{
	const char *end = reading->begin + length, *name = reading->begin, *key;
	struct osp_secret *secret = &secrets->list[secrets->count];
	size_t name_bytes, key_bytes;

	while (name < end && strchr(" \t\r", *name))
		name++;
	while (end > name && strchr(" \t\r", end[-1]))
		end--;
	if (name == end)
		return 0;
	name_bytes = strcspn(name, " \t");
	if (name + name_bytes >= end || !osp_secret_is_name(name, name_bytes))
		return refuse(reading, name,
			      "a name of 1 to 16 letters, digits, -, . and _, and a key are "
			      "expected");
	if (osp_secrets_find(secrets, name, name_bytes))
		return refuse(reading, name, "another name is expected: this one is above");
	if (secrets->count == OSP_SECRETS_MAX)
		return refuse(reading, name, "at most 4 keys are expected");
	key = name + name_bytes + strspn(name + name_bytes, " \t");
	key_bytes = (size_t)(end - key);
	if (read_key(reading, key, key_bytes, secret->key))
		return -1;
	if (is_there(secrets, secret->key))
		return refuse(reading, key, "another key is expected: this one is above");
	memcpy(secret->name, name, name_bytes);
	secret->name[name_bytes] = '\0';
	secrets->count++;
	return 0;
}

static int read_lines(struct reading *reading, const char *text, size_t text_bytes,
		      struct osp_secrets *secrets)
{
	const char *end = text + text_bytes;

	for (reading->line = 1; text < end; reading->line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *last = newline ? newline : end;
		const char *comment = memchr(text, '#', (size_t)(last - text));

		reading->begin = text;
		if (memchr(text, '\0', (size_t)(last - text)))
			return refuse(reading, text, "text without a zero byte is expected");
		if (read_line(reading, (size_t)((comment ? comment : last) - text), secrets))
			return -1;
		text = newline ? newline + 1 : end;
	}
	if (!secrets->count)
		return osp_error_at(reading->error, reading->file, 0, 0,
				    "a line with a name and a key is expected");
	return 0;
}

int osp_secrets_read(const char *file, const char *text, size_t text_bytes,
		     struct osp_secrets *secrets, struct osp_error *error)
{
	struct reading reading = {.file = file, .error = error};

	memset(secrets, 0, sizeof(*secrets));
	if (text_bytes > OSP_SECRETS_FILE_MAX)
		return osp_error_at(error, file, 0, 0, "at most %d bytes are expected",
				    OSP_SECRETS_FILE_MAX);
	if (!read_lines(&reading, text, text_bytes, secrets))
		return 0;
	osp_secrets_forget(secrets);
	return -1;
}

/* --- writing ---------------------------------------------------------------------------------- */

char *osp_secrets_text(const struct osp_secrets *secrets)
{
	size_t bytes = sizeof(FIRST_LINE) + (size_t)secrets->count * LINE_BYTES, at;
	char *text = calloc(1, bytes);

	if (!text)
		return NULL;
	at = (size_t)snprintf(text, bytes, "%s", FIRST_LINE);
	for (uint32_t i = 0; i < secrets->count; i++) {
		at += (size_t)snprintf(text + at, bytes - at, "%s ", secrets->list[i].name);
		for (size_t k = 0; k < OSP_SECRET_BYTES; k++)
			at += (size_t)snprintf(text + at, bytes - at, "%02x",
					       secrets->list[i].key[k]);
		at += (size_t)snprintf(text + at, bytes - at, "\n");
	}
	return text;
}

/* Clears memory by a call that a compiler may not leave out, as it may a memset() of what is freed
 * then. */
static void wipe(void *memory, size_t bytes)
{
	volatile uint8_t *at = memory;

	while (bytes--)
		*at++ = 0;
}

void osp_secrets_text_free(char *text)
{
	if (text)
		wipe(text, strlen(text));
	free(text);
}

void osp_secrets_forget(struct osp_secrets *secrets)
{
	wipe(secrets, sizeof(*secrets));
}

/* --- finding and changing --------------------------------------------------------------------- */

const struct osp_secret *osp_secrets_find(const struct osp_secrets *secrets, const char *name,
					  size_t name_bytes)
{
	for (uint32_t i = 0; i < secrets->count; i++)
		if (strlen(secrets->list[i].name) == name_bytes &&
		    !memcmp(secrets->list[i].name, name, name_bytes))
			return &secrets->list[i];
	return NULL;
}

int osp_secrets_add(struct osp_secrets *secrets, const char *name,
		    const uint8_t key[OSP_SECRET_BYTES], struct osp_error *error)
{
	struct osp_secret *secret = &secrets->list[secrets->count];

	if (!osp_secret_is_name(name, strlen(name)))
		return osp_error_set(error,
				     "'%.40s': a name of 1 to 16 letters, digits, -, . and _ is "
				     "expected",
				     name);
	if (osp_secrets_find(secrets, name, strlen(name)))
		return osp_error_set(error, "%s: there is a key of that name already", name);
	if (secrets->count == OSP_SECRETS_MAX)
		return osp_error_set(error,
				     "there are %d keys already: drop those that seal no more",
				     OSP_SECRETS_MAX);
	snprintf(secret->name, sizeof(secret->name), "%s", name);
	memcpy(secret->key, key, OSP_SECRET_BYTES);
	secrets->count++;
	return 0;
}

int osp_secrets_use(struct osp_secrets *secrets, struct osp_error *error)
{
	struct osp_secret last;

	if (secrets->count < 2)
		return osp_error_set(error, "there is no other key: add one, and copy the file to "
					    "all nodes");
	last = secrets->list[secrets->count - 1];
	memmove(&secrets->list[1], &secrets->list[0],
		(secrets->count - 1) * sizeof(secrets->list[0]));
	secrets->list[0] = last;
	wipe(&last, sizeof(last));
	return 0;
}

int osp_secrets_drop(struct osp_secrets *secrets, struct osp_error *error)
{
	if (secrets->count < 2)
		return osp_error_set(error, "there is no other key to drop");
	wipe(&secrets->list[1], (OSP_SECRETS_MAX - 1) * sizeof(secrets->list[0]));
	secrets->count = 1;
	return 0;
}
