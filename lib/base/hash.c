/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.c - one hash for tables and stamps: FNV-1a of 64 bits */
#include "lib/base/hash.h"

#include <string.h>

uint64_t osp_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	while (count--)
		hash = osp_hash_step(hash, *at++);
	return hash;
}

uint64_t osp_hash_words(uint64_t hash, const char *words)
{
	return osp_hash_bytes(hash, words, strlen(words) + 1);
}
