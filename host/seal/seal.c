/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seal.c - messages that only root of this cluster, or one user, can have made and can open */
#include "onespine_config.h"
#include "host/seal/seal.h"

#include <munge.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef OSP_HAVE_SODIUM
#include <sodium.h>
#endif

#include "host/record/secrets_file.h"

/* --- MUNGE ------------------------------------------------------------------------------------ */

static int begin_munge(struct osp_seal *seal, const struct osp_seal_means *means,
		       struct osp_error *error)
{
	munge_ctx_t munge = munge_ctx_create();
	munge_err_t state = munge ? EMUNGE_SUCCESS : EMUNGE_NO_MEMORY;

	if (state == EMUNGE_SUCCESS && *means->munge_socket)
		state = munge_ctx_set(munge, MUNGE_OPT_SOCKET, means->munge_socket);
	if (state == EMUNGE_SUCCESS)
		state = munge_ctx_set(munge, MUNGE_OPT_UID_RESTRICTION, means->reader);
	if (state == EMUNGE_SUCCESS)
		state = munge_ctx_set(munge, MUNGE_OPT_TTL, (int)means->life_s);
	*seal = (struct osp_seal){.munge = munge, .life_s = means->life_s};
	if (state == EMUNGE_SUCCESS)
		return 0;
	osp_seal_end(seal); /* one without these options would open what users sealed */
	return osp_error_set(error, "MUNGE: %s", munge_strerror(state));
}

static int munge_message(struct osp_seal *seal, const struct osp_text *message,
			 struct osp_text *sealed, struct osp_error *error)
{
	char *credential = NULL;
	munge_err_t state =
		munge_encode(&credential, seal->munge, message->data, (int)message->length_bytes);

	if (state != EMUNGE_SUCCESS) {
		const char *why = munge_ctx_strerror(seal->munge);

		return osp_error_set(error, "MUNGE: %s", why ? why : munge_strerror(state));
	}
	osp_text_add(sealed, credential);
	free(credential);
	return 0;
}

static void *unmunge(struct osp_seal *seal, const char *sealed, uid_t maker, size_t *message_bytes)
{
	void *inside = NULL;
	int inside_bytes = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid;
	munge_err_t state = munge_decode(sealed, seal->munge, &inside, &inside_bytes, &uid, &gid);

	if (state == EMUNGE_SUCCESS && (uid == 0 || uid == maker) && inside_bytes > 0) {
		*message_bytes = (size_t)inside_bytes;
		return inside;
	}
	free(inside);
	return NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

#ifdef OSP_HAVE_SODIUM
#define MARK	     "OSPK"
#define MARK_BYTES   4
#define SEAL_VERSION 1
#define TIME_BYTES   8
#define NONCE_BYTES  OSP_SEAL_NONCE_BYTES
#define PROOF_BYTES  crypto_aead_xchacha20poly1305_ietf_ABYTES
#define HEAD_MOST    (MARK_BYTES + 2 + OSP_SECRET_NAME_BYTES + TIME_BYTES + NONCE_BYTES)

_Static_assert(OSP_SECRET_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key's bytes");
_Static_assert(NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "a nonce's bytes");

static int begin_keys(struct osp_seal *seal, const struct osp_seal_means *means,
		      struct osp_error *error)
{
	int rc;

	*seal = (struct osp_seal){.life_s = means->life_s};
	if (sodium_init() < 0)
		return osp_error_set(error, "libsodium cannot be used");
	seal->secrets = calloc(1, sizeof(*seal->secrets));
	rc = seal->secrets ? osp_secrets_load(means->key_file, seal->secrets, error)
			   : osp_error_set(error, "out of memory");
	if (rc)
		osp_seal_end(seal);
	return rc;
}

static uint8_t *put_time(uint8_t *at, uint64_t time_s)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		*at++ = (uint8_t)(time_s >> shift);
	return at;
}

static uint64_t take_time(const uint8_t *at)
{
	uint64_t time_s = 0;

	for (int i = 0; i < TIME_BYTES; i++)
		time_s = time_s << 8 | at[i];
	return time_s;
}

/* Writes all before the encrypted bytes. Returns its length; the nonce is its end. */
static size_t write_head(const struct osp_secret *secret, uint8_t head[HEAD_MOST])
{
	size_t name_bytes = strlen(secret->name);
	uint8_t *at = head;

	memcpy(at, MARK, MARK_BYTES);
	at += MARK_BYTES;
	*at++ = SEAL_VERSION;
	*at++ = (uint8_t)name_bytes;
	memcpy(at, secret->name, name_bytes);
	at = put_time(at + name_bytes, (uint64_t)time(NULL));
	randombytes_buf(at, NONCE_BYTES);
	return (size_t)(at - head) + NONCE_BYTES;
}

static int seal_by_key(const struct osp_seal *seal, const struct osp_text *message,
		       struct osp_text *sealed, struct osp_error *error)
{
	const struct osp_secret *secret = &seal->secrets->list[0];
	uint8_t head[HEAD_MOST], *encrypted = malloc(message->length_bytes + PROOF_BYTES);
	size_t head_bytes = write_head(secret, head);
	unsigned long long bytes = 0;

	if (!encrypted)
		return osp_error_set(error, "out of memory");
	crypto_aead_xchacha20poly1305_ietf_encrypt(
		encrypted, &bytes, (const uint8_t *)message->data, message->length_bytes, head,
		head_bytes, NULL, head + head_bytes - NONCE_BYTES, secret->key);
	osp_text_add_bytes(sealed, (const char *)head, head_bytes);
	osp_text_add_bytes(sealed, (const char *)encrypted, (size_t)bytes);
	free(encrypted);
	return 0;
}

/* Returns the key that the head names, and the head's length; NULL: it is no head, names no key
 * that is here, or was not made in this time. */
static const struct osp_secret *read_head(struct osp_seal *seal, const uint8_t *sealed,
					  size_t bytes, size_t *head_bytes)
{
	const char *name = (const char *)sealed + MARK_BYTES + 2;
	const struct osp_secret *secret;
	size_t name_bytes;
	int64_t age_s;

	if (bytes < MARK_BYTES + 2 || memcmp(sealed, MARK, MARK_BYTES) != 0 ||
	    sealed[MARK_BYTES] != SEAL_VERSION)
		return NULL;
	name_bytes = sealed[MARK_BYTES + 1];
	*head_bytes = MARK_BYTES + 2 + name_bytes + TIME_BYTES + NONCE_BYTES;
	if (bytes < *head_bytes + PROOF_BYTES)
		return NULL;
	secret = osp_secrets_find(seal->secrets, name, name_bytes);
	if (!secret && osp_secret_is_name(name, name_bytes))
		snprintf(seal->unknown, sizeof(seal->unknown), "%.*s", (int)name_bytes, name);
	age_s = (int64_t)((uint64_t)time(NULL) - take_time(sealed + MARK_BYTES + 2 + name_bytes));
	return age_s > (int64_t)seal->life_s || age_s < -(int64_t)seal->life_s ? NULL : secret;
}

/* Notes the nonce of a message that a key has opened: only who has a key makes the list longer.
 * Returns false if it is there, or if memory runs out. */
static bool opens_first(struct osp_seal *seal, const uint8_t nonce[NONCE_BYTES])
{
	size_t room = seal->opened_room ? 2 * seal->opened_room : 64;
	void *more;

	for (size_t i = 0; i < seal->opened_count; i++)
		if (!memcmp(seal->opened[i], nonce, NONCE_BYTES))
			return false;
	if (seal->opened_count == seal->opened_room) {
		more = reallocarray(seal->opened, room, NONCE_BYTES);
		if (!more)
			return false;
		seal->opened = more;
		seal->opened_room = room;
	}
	memcpy(seal->opened[seal->opened_count++], nonce, NONCE_BYTES);
	return true;
}

static void *open_by_key(struct osp_seal *seal, const char *text, size_t bytes,
			 size_t *message_bytes)
{
	const uint8_t *sealed = (const uint8_t *)text;
	unsigned long long opened_bytes = 0;
	size_t head_bytes = 0;
	const struct osp_secret *secret = read_head(seal, sealed, bytes, &head_bytes);
	const uint8_t *nonce = secret ? sealed + head_bytes - NONCE_BYTES : NULL;
	uint8_t *message = secret ? malloc(bytes - head_bytes) : NULL;

	if (message &&
	    !crypto_aead_xchacha20poly1305_ietf_decrypt(message, &opened_bytes, NULL,
							sealed + head_bytes, bytes - head_bytes,
							sealed, head_bytes, nonce, secret->key) &&
	    opened_bytes && opens_first(seal, nonce)) {
		*message_bytes = (size_t)opened_bytes;
		return message;
	}
	free(message);
	return NULL;
}
#else
static int begin_keys(struct osp_seal *seal, const struct osp_seal_means *means,
		      struct osp_error *error)
{
	*seal = (struct osp_seal){.life_s = means->life_s};
	return osp_error_at(error, means->key_file, 0, 0,
			    "this build was configured without libsodium: it cannot use a key");
}

static int seal_by_key(const struct osp_seal *seal, const struct osp_text *message,
		       struct osp_text *sealed, struct osp_error *error)
{
	(void)seal;
	(void)message;
	(void)sealed;
	return osp_error_set(error, "no key");
}

static void *open_by_key(struct osp_seal *seal, const char *text, size_t bytes,
			 size_t *message_bytes)
{
	(void)seal;
	(void)text;
	(void)bytes;
	(void)message_bytes;
	return NULL;
}
#endif

/* --- either ----------------------------------------------------------------------------------- */

int osp_seal_begin(struct osp_seal *seal, const struct osp_seal_means *means,
		   struct osp_error *error)
{
	return *means->key_file ? begin_keys(seal, means, error) : begin_munge(seal, means, error);
}

void osp_seal_end(struct osp_seal *seal)
{
	if (seal->munge)
		munge_ctx_destroy(seal->munge);
	if (seal->secrets)
		osp_secrets_forget(seal->secrets);
	free(seal->secrets);
	free(seal->opened);
	seal->munge = NULL;
	seal->secrets = NULL;
	seal->opened = NULL;
	seal->opened_count = seal->opened_room = 0;
}

int osp_seal_message(struct osp_seal *seal, const struct osp_text *message, struct osp_text *sealed,
		     struct osp_error *error)
{
	if (message->failed || !message->data)
		return osp_error_set(error, "out of memory");
	if (seal->munge)
		return munge_message(seal, message, sealed, error);
	return seal->secrets ? seal_by_key(seal, message, sealed, error)
			     : osp_error_set(error, "neither MUNGE nor a key");
}

void *osp_seal_open(struct osp_seal *seal, const char *sealed, size_t bytes, uid_t maker,
		    size_t *message_bytes)
{
	if (seal->munge)
		return unmunge(seal, sealed, maker, message_bytes);
	return seal->secrets ? open_by_key(seal, sealed, bytes, message_bytes) : NULL;
}
