/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kind.c - which nodes are alike enough for one gang */
#include "lib/topology/kind.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct words {
	char *at;
	size_t room_bytes;
	bool any;
};

static void add_word(struct words *words, const char *start, size_t length)
{
	if (length + 2 > words->room_bytes)
		return;
	if (words->any) {
		*words->at++ = ' ';
		words->room_bytes--;
	}
	memcpy(words->at, start, length);
	words->at += length;
	words->room_bytes -= length;
	*words->at = '\0';
	words->any = true;
}

static size_t item_length(const char *item)
{
	return strcspn(item, ",");
}

/*
 * Returns the length of a GPU's type: "gpu:h100:8(S:0-1)" -> "gpu:h100"; "gpu:8" and "gpu" ->
 * "gpu"; other resources -> 0.
 */
static size_t gpu_type_length(const char *item, size_t length)
{
	size_t type;

	if (length < 3 || strncmp(item, "gpu", 3) || (length > 3 && item[3] != ':'))
		return 0;
	if (length <= 4 || isdigit((unsigned char)item[4]))
		return 3;
	type = strcspn(item + 4, ":(,");
	return 4 + type <= length ? 4 + type : length;
}

/* Returns the length of the run of [a-z0-9-] at the start of `word`. */
static size_t name_length(const char *word, size_t length)
{
	size_t i = 0;

	while (i < length && (islower((unsigned char)word[i]) || isdigit((unsigned char)word[i]) ||
			      word[i] == '-'))
		i++;
	return i;
}

/*
 * Returns whether this is a size of EC2's: "nano" to "large", "xlarge", "48xlarge", "metal",
 * "metal-24xl".
 */
static bool is_instance_size(const char *size, size_t length)
{
	static const char *const words[] = {"nano",  "micro",  "small", "medium",
					    "large", "xlarge", "metal"};
	size_t digits = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == length && !memcmp(size, words[i], length))
			return true;
	}
	if (length > 6 && !memcmp(size, "metal-", 6)) {
		size += 6;
		length -= 6;
		while (digits < length && isdigit((unsigned char)size[digits]))
			digits++;
		return digits && length - digits == 2 && !memcmp(size + digits, "xl", 2);
	}
	while (digits < length && isdigit((unsigned char)size[digits]))
		digits++;
	return digits && length - digits == 6 && !memcmp(size + digits, "xlarge", 6);
}

/* Returns whether a word is an instance type: "p5.48xlarge", but not "cuda12.4" or "rhel9.4". */
static bool is_instance_type(const char *word, size_t length)
{
	size_t family = name_length(word, length);

	return family && islower((unsigned char)word[0]) && family < length &&
	       word[family] == '.' && is_instance_size(word + family + 1, length - family - 1);
}

const char *osp_kind_of(const char *gres, const char *features, char *buffer, size_t buffer_bytes)
{
	struct words words = {buffer, buffer_bytes, false};

	if (!buffer_bytes)
		return buffer;
	buffer[0] = '\0';
	for (const char *item = gres; item && *item;
	     item += item_length(item), item += *item == ',') {
		size_t length = gpu_type_length(item, item_length(item));

		if (length)
			add_word(&words, item, length);
	}
	for (const char *item = features; item && *item;
	     item += item_length(item), item += *item == ',') {
		if (is_instance_type(item, item_length(item)))
			add_word(&words, item, item_length(item));
	}
	return buffer;
}
