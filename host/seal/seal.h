/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seal.h - messages that only root of this cluster, or one user, can have made and can open
 *
 * By MUNGE, or by the keys of a file (lib/gate/secrets.h) if the cluster has no MUNGE: Slurm's
 * auth/slurm has no stable call that a Prolog could use. With keys a sealed message is
 *
 *	"OSPK" VERSION LENGTH NAME TIME NONCE, then the message, encrypted, and 16 bytes that prove
 *	all of it (libsodium's crypto_aead_xchacha20poly1305_ietf)
 *
 * NAME is that of the key, in LENGTH bytes; TIME the second in which it was sealed, 8 bytes,
 * big-endian; NONCE 24 random bytes. It is good for as long as a credential of MUNGE, to both sides
 * of TIME: clocks may differ by so much. One struct osp_seal opens it once; MUNGE does so on its
 * whole host. That it is not one of another connection, sent again, is proven by the challenge in
 * it (gate/gate_peer.h, host/report/report_wire.h).
 *
 * Whoever can read a key made and can open everything that it seals, so each use has a file of its
 * own: the gates' is root's alone, that of reports also the watch's user's.
 *
 * One thread; only MUNGE blocks.
 */
#ifndef OSP_SEAL_H
#define OSP_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/gate/secrets.h"

#define OSP_SEAL_NONCE_BYTES 24

struct osp_seal_means {
	const char *key_file;	  /* "" if MUNGE seals */
	const char *munge_socket; /* "" for MUNGE's own default */
	uint32_t life_s;	  /* how long a sealed message is good */
	uid_t reader;		  /* MUNGE: who alone can open what is sealed here */
};

struct osp_seal {
	void *munge;				 /* munge_ctx_t; NULL: by keys */
	struct osp_secrets *secrets;		 /* NULL: by MUNGE */
	uint32_t life_s;			 /* how long a sealed message is good */
	uint8_t (*opened)[OSP_SEAL_NONCE_BYTES]; /* of messages that the keys have opened */
	size_t opened_count, opened_room;
	/* a key that a message named and that is not here; "" none did */
	char unknown[OSP_SECRET_NAME_BYTES];
};

/* Reads the keys (host/record/secrets_file.h) or opens MUNGE's socket. Returns 0, or -1 with
 * `error` set; also if a key file is named and this was built without libsodium. */
int osp_seal_begin(struct osp_seal *seal, const struct osp_seal_means *means,
		   struct osp_error *error);

/* Overwrites the keys. osp_seal_begin() may have failed before, and it may be called twice. */
void osp_seal_end(struct osp_seal *seal);

/* Adds the sealed `message` to `sealed`. Returns 0, or -1 with `error` set. */
int osp_seal_message(struct osp_seal *seal, const struct osp_text *message, struct osp_text *sealed,
		     struct osp_error *error);

/*
 * Opens what was sealed elsewhere; `sealed` has a zero byte behind its `bytes`. Returns the
 * message, malloc'd, with its length in *message_bytes; NULL if it was changed, was opened before,
 * is not good any more or yet or, by MUNGE, was sealed by another user than root and `maker`, or
 * for another reader.
 */
void *osp_seal_open(struct osp_seal *seal, const char *sealed, size_t bytes, uid_t maker,
		    size_t *message_bytes);

#endif
