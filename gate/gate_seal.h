/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_seal.h - messages that only root of this cluster can have made, and only root can open
 *
 * By MUNGE, or by the keys of a file (lib/gate/secrets.h) if the cluster has no MUNGE: Slurm's
 * auth/slurm has no stable call that a Prolog could use. With keys a sealed message is
 *
 *	"OSPK" VERSION LENGTH NAME TIME NONCE, then the message, encrypted, and 16 bytes that prove
 *	all of it (libsodium's crypto_aead_xchacha20poly1305_ietf)
 *
 * NAME is that of the key, in LENGTH bytes; TIME the second in which it was sealed, 8 bytes,
 * big-endian; NONCE 24 random bytes. It is good for as long as a credential of MUNGE, to both sides
 * of TIME: clocks may differ by so much. A gate opens it once, as MUNGE does. That it is not one of
 * another connection, sent again, is proven by its header (gate/gate_peer.h).
 *
 * One thread; only MUNGE blocks.
 */
#ifndef OSP_GATE_SEAL_H
#define OSP_GATE_SEAL_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/gate/secrets.h"

#define OSP_GATE_NONCE_BYTES 24

struct osp_gate_seal {
	void *munge;				 /* munge_ctx_t; NULL: by keys */
	struct osp_secrets *secrets;		 /* NULL: by MUNGE */
	uint32_t life_s;			 /* how long a sealed message is good */
	uint8_t (*opened)[OSP_GATE_NONCE_BYTES]; /* of messages that the keys have opened */
	size_t opened_count, opened_room;
	/* a key that a message named and that is not here; "" none did */
	char unknown[OSP_SECRET_NAME_BYTES];
};

/* Opens MUNGE's socket, "" for its default. Returns 0, or -1 with `error` set. */
int osp_gate_seal_by_munge(struct osp_gate_seal *seal, const char *socket, uint32_t life_s,
			   struct osp_error *error);

/* Reads the keys (host/record/secrets_file.h). Returns 0, or -1 with `error` set; also if this was
 * built without libsodium. */
int osp_gate_seal_by_keys(struct osp_gate_seal *seal, const char *path, uint32_t life_s,
			  struct osp_error *error);

/* Overwrites the keys. Either of them may have failed before, and it may be closed twice. */
void osp_gate_seal_close(struct osp_gate_seal *seal);

/* Adds the sealed `message` to `sealed`. Returns 0, or -1 with `error` set. */
int osp_gate_seal_message(struct osp_gate_seal *seal, const struct osp_text *message,
			  struct osp_text *sealed, struct osp_error *error);

/*
 * Opens what another gate sealed; `sealed` has a zero byte behind its `bytes`. Returns the message,
 * malloc'd, with its length in *message_bytes; NULL if it was not sealed by the user who runs this
 * gate, was changed, was opened before, or is not good any more or yet.
 */
void *osp_gate_seal_open(struct osp_gate_seal *seal, const char *sealed, size_t bytes,
			 size_t *message_bytes);

#endif
