/* SPDX-License-Identifier: GPL-2.0-or-later */
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

/* "gpu:h100:8(S:0-1)" -> "gpu:h100"; "gpu:8" and "gpu" -> "gpu"; other resources -> 0 */
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

static bool is_instance_type(const char *word, size_t length)
{
	size_t dots = 0;

	if (!length || !islower((unsigned char)word[0]) || word[length - 1] == '.')
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)word[i];

		if (c == '.')
			dots++;
		else if (!islower(c) && !isdigit(c) && c != '-')
			return false;
	}
	return dots == 1;
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
