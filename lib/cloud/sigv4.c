/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sigv4.c - signs a POST with AWS's signature version 4: SHA-256 (FIPS 180-4), HMAC (RFC 2104) */
#include "lib/cloud/sigv4.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BLOCK_BYTES 64
#define HEX_BYTES   (2 * OSP_SHA256_BYTES + 1)

/* --- SHA-256 ---------------------------------------------------------------------------------- */

struct sha256 {
	uint32_t state[8];
	uint8_t block[BLOCK_BYTES];
	uint64_t total_bytes;
};

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

static uint32_t rotate(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

static void spread(const uint8_t *block, uint32_t words[64])
{
	for (int i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void mix(struct sha256 *sha, const uint8_t *block)
{
	uint32_t words[64], s[8];

	spread(block, words);
	memcpy(s, sha->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t high = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t first = s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
				 round_constants[i] + words[i];
		uint32_t low = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t second = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += first;
		s[0] = first + second;
	}
	for (int i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

static void begin(struct sha256 *sha)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(sha->state, start, sizeof(start));
	sha->total_bytes = 0;
}

static void add(struct sha256 *sha, const void *bytes, size_t count)
{
	const uint8_t *next = bytes;

	for (; count; count--) {
		sha->block[sha->total_bytes++ % BLOCK_BYTES] = *next++;
		if (sha->total_bytes % BLOCK_BYTES == 0)
			mix(sha, sha->block);
	}
}

static void end(struct sha256 *sha, uint8_t digest[OSP_SHA256_BYTES])
{
	uint64_t bits = sha->total_bytes * 8;
	uint8_t length[8];

	add(sha, "\x80", 1);
	while (sha->total_bytes % BLOCK_BYTES != BLOCK_BYTES - 8)
		add(sha, "", 1);
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	add(sha, length, sizeof(length));
	for (int i = 0; i < OSP_SHA256_BYTES; i++)
		digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void osp_sha256(const void *bytes, size_t count, uint8_t digest[OSP_SHA256_BYTES])
{
	struct sha256 sha;

	begin(&sha);
	add(&sha, bytes, count);
	end(&sha, digest);
}

/* --- HMAC ------------------------------------------------------------------------------------- */

static void hmac(const uint8_t *key, size_t key_bytes, const char *text,
		 uint8_t digest[OSP_SHA256_BYTES])
{
	uint8_t padded[BLOCK_BYTES] = {0};
	struct sha256 sha;

	if (key_bytes > BLOCK_BYTES)
		osp_sha256(key, key_bytes, padded);
	else
		memcpy(padded, key, key_bytes);
	for (int i = 0; i < BLOCK_BYTES; i++)
		padded[i] ^= 0x36;
	begin(&sha);
	add(&sha, padded, sizeof(padded));
	add(&sha, text, strlen(text));
	end(&sha, digest);
	for (int i = 0; i < BLOCK_BYTES; i++)
		padded[i] ^= 0x36 ^ 0x5c;
	begin(&sha);
	add(&sha, padded, sizeof(padded));
	add(&sha, digest, OSP_SHA256_BYTES);
	end(&sha, digest);
}

/* --- signing ---------------------------------------------------------------------------------- */

static const char *hex(const uint8_t digest[OSP_SHA256_BYTES], char text[HEX_BYTES])
{
	for (int i = 0; i < OSP_SHA256_BYTES; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
	return text;
}

static void add_words(struct sha256 *sha, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(sha, words[i], strlen(words[i]));
}

static const char *signed_headers(const struct osp_sigv4 *request)
{
	return request->token ? "content-type;host;x-amz-date;x-amz-security-token"
			      : "content-type;host;x-amz-date";
}

/* Hashes the canonical request. */
static void hash_request(const struct osp_sigv4 *request, const char *date, char text[HEX_BYTES])
{
	uint8_t digest[OSP_SHA256_BYTES];
	char body[HEX_BYTES];
	const char *words[] = {"POST\n/\n\ncontent-type:",
			       request->content_type,
			       "\nhost:",
			       request->host,
			       "\nx-amz-date:",
			       date,
			       request->token ? "\nx-amz-security-token:" : "",
			       request->token ? request->token : "",
			       "\n\n",
			       signed_headers(request),
			       "\n",
			       body};
	struct sha256 sha;

	osp_sha256(request->body, strlen(request->body), digest);
	hex(digest, body);
	begin(&sha);
	add_words(&sha, words, sizeof(words) / sizeof(words[0]));
	end(&sha, digest);
	hex(digest, text);
}

static int sign_text(const struct osp_sigv4 *request, const char *day, const char *text,
		     char signature[HEX_BYTES])
{
	uint8_t key[OSP_SHA256_BYTES];
	char first[256];
	int count = snprintf(first, sizeof(first), "AWS4%s", request->secret);

	if (count < 0 || (size_t)count >= sizeof(first))
		return -1;
	hmac((const uint8_t *)first, (size_t)count, day, key);
	hmac(key, sizeof(key), request->region, key);
	hmac(key, sizeof(key), request->service, key);
	hmac(key, sizeof(key), "aws4_request", key);
	hmac(key, sizeof(key), text, key);
	hex(key, signature);
	return 0;
}

int osp_sigv4_sign(const struct osp_sigv4 *request, char date[OSP_SIGV4_DATE_BYTES],
		   char authorization[OSP_SIGV4_BYTES])
{
	char scope[160], text[320], hash[HEX_BYTES], signature[HEX_BYTES], day[9];
	time_t now = (time_t)request->time_s;
	struct tm utc;
	int count;

	if (!gmtime_r(&now, &utc) || strftime(date, OSP_SIGV4_DATE_BYTES, "%Y%m%dT%H%M%SZ", &utc) !=
					     OSP_SIGV4_DATE_BYTES - 1)
		return -1;
	snprintf(day, sizeof(day), "%.8s", date);
	count = snprintf(scope, sizeof(scope), "%s/%s/%s/aws4_request", day, request->region,
			 request->service);
	if (count < 0 || (size_t)count >= sizeof(scope))
		return -1;
	hash_request(request, date, hash);
	snprintf(text, sizeof(text), "AWS4-HMAC-SHA256\n%s\n%s\n%s", date, scope, hash);
	if (sign_text(request, day, text, signature))
		return -1;
	count = snprintf(authorization, OSP_SIGV4_BYTES,
			 "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
			 request->key_id, scope, signed_headers(request), signature);
	return count < 0 || count >= OSP_SIGV4_BYTES ? -1 : 0;
}
