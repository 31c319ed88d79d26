/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secrets.h - the file of the keys by which gates know each other, if a cluster has no MUNGE
 *
 *	# the first seals; all of them open
 *	2026-11 6f1c..(64 hexadecimal digits)
 *	2026-08 90ab..
 *
 * Each line is a name and a key; what follows a "#" is a comment. The name goes with each message
 * and is no secret. All nodes have the same file. It is changed without a stop in three steps, with
 * the file copied to all nodes after each: a new key is added at the end, and opens; it is made the
 * first, and seals; the others are dropped. A gate reads the file at its start.
 *
 * Any thread; reads and writes no file itself.
 */
#ifndef OSP_SECRETS_H
#define OSP_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_SECRET_BYTES      32
#define OSP_SECRET_NAME_BYTES 17 /* 16 letters, digits, - . _ and the end */
#define OSP_SECRETS_MAX	      4
#define OSP_SECRETS_FILE_MAX  4096 /* bytes of such a file */

struct osp_secret {
	char name[OSP_SECRET_NAME_BYTES];
	uint8_t key[OSP_SECRET_BYTES];
};

struct osp_secrets {
	struct osp_secret list[OSP_SECRETS_MAX];
	uint32_t count;
};

/*
 * Reads the text of a file. Returns 0, or -1 with `error` set at its line and column and *secrets
 * empty: a line of another form, a name or a key that is there twice, more than OSP_SECRETS_MAX, or
 * none. An error never quotes a key.
 */
int osp_secrets_read(const char *file, const char *text, size_t text_bytes,
		     struct osp_secrets *secrets, struct osp_error *error);

/* Writes them as such a file, to be freed with osp_secrets_text_free(); NULL if memory runs out. */
char *osp_secrets_text(const struct osp_secrets *secrets);
void osp_secrets_text_free(char *text);

/* Returns whether `length` bytes, which need no end, are a key's name. */
bool osp_secret_is_name(const char *name, size_t length);

/* Returns the key of that name, whose `name_bytes` bytes need no end, or NULL. */
const struct osp_secret *osp_secrets_find(const struct osp_secrets *secrets, const char *name,
					  size_t name_bytes);

/*
 * The steps of a change. Each returns 0, or -1 with `error` set and *secrets as they were.
 * osp_secrets_add(): the last, or the only one; it is refused if the name is no name or there, or
 * if there is no room. osp_secrets_use(): the last seals; refused if there is one alone.
 * osp_secrets_drop(): all but the one that seals; refused if there is one alone.
 */
int osp_secrets_add(struct osp_secrets *secrets, const char *name,
		    const uint8_t key[OSP_SECRET_BYTES], struct osp_error *error);
int osp_secrets_use(struct osp_secrets *secrets, struct osp_error *error);
int osp_secrets_drop(struct osp_secrets *secrets, struct osp_error *error);

/* Overwrites the keys in memory. */
void osp_secrets_forget(struct osp_secrets *secrets);

#endif
