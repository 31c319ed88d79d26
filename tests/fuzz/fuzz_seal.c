/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_seal.c - what the network sends to a gate, or to a watch, that has a key of its own
 *
 * Parser: host/seal/seal.c
 */
#include <stdbool.h>

#include "host/seal/seal.h"
#include "tests/fuzz/fuzz.h"

/* Of the corpus: a, and 64 times the digit 6. */
static const struct osp_secret known = {
	.name = "a",
	.key = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66},
};

/* Opens a copy that has exactly these bytes and the zero. */
static bool opens(struct osp_seal *seal, const void *sealed, size_t bytes, const char *wanted,
		  size_t wanted_bytes)
{
	char *copy = malloc(bytes + 1);
	size_t message_bytes = 0;
	void *message;
	bool opened;

	fuzz_check(copy);
	if (bytes)
		memcpy(copy, sealed, bytes);
	copy[bytes] = '\0';
	message = osp_seal_open(seal, copy, bytes, 0, &message_bytes);
	opened = message != NULL;
	fuzz_check(!opened || message_bytes);
	if (opened && wanted)
		fuzz_check(message_bytes == wanted_bytes && !memcmp(message, wanted, wanted_bytes));
	free(message);
	free(copy);
	return opened;
}

/* What was sealed is opened once, and never with another byte. */
static void check_sealed(struct osp_seal *seal, const uint8_t *data, size_t size)
{
	struct osp_text message = OSP_TEXT_INIT, sealed = OSP_TEXT_INIT;
	size_t at;

	osp_text_add_bytes(&message, (const char *)data, size);
	fuzz_check(!osp_seal_message(seal, &message, &sealed, NULL) && !sealed.failed);
	at = (data[0] | (size_t)data[size - 1] << 8) % sealed.length_bytes;
	sealed.data[at] ^= 1;
	fuzz_check(!opens(seal, sealed.data, sealed.length_bytes, NULL, 0));
	sealed.data[at] ^= 1;
	fuzz_check(!opens(seal, sealed.data, at, NULL, 0));
	fuzz_check(opens(seal, sealed.data, sealed.length_bytes, message.data, size));
	fuzz_check(!opens(seal, sealed.data, sealed.length_bytes, NULL, 0));
	osp_text_free(&message);
	osp_text_free(&sealed);
}

FUZZER(seal)
{
	struct osp_seal seal = {.life_s = UINT32_MAX};

	seal.secrets = calloc(1, sizeof(*seal.secrets));
	fuzz_check(seal.secrets);
	seal.secrets->list[0] = known;
	seal.secrets->count = 1;
	if (opens(&seal, data, size, NULL, 0))
		fuzz_check(!opens(&seal, data, size, NULL, 0));
	fuzz_check(!*seal.unknown || osp_secret_is_name(seal.unknown, strlen(seal.unknown)));
	if (size)
		check_sealed(&seal, data, size);
	osp_seal_end(&seal);
	return 0;
}
