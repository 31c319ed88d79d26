/* SPDX-License-Identifier: GPL-2.0-or-later */
/* valid.c - whether what a child wrote is what a check writes */
#include "check/runner/run_private.h"

#include <math.h>
#include <string.h>

#include "lib/base/clean.h"

/* Cleans words that end in their field. */
static bool are_words(char *words, size_t bytes)
{
	if (!memchr(words, '\0', bytes))
		return false;
	osp_clean(words);
	return true;
}

#define ARE_WORDS(field) are_words(field, sizeof(field))

/* Reads the byte, because a bool that holds another number may not be read as one. */
bool osp_valid_flag(const bool *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	return byte <= 1;
}

bool osp_valid_result(struct osp_result *result)
{
	return (unsigned int)result->verdict <= OSP_VERDICT_FAIL &&
	       (unsigned int)result->cure <= OSP_CURE_REPLACE && ARE_WORDS(result->subject) &&
	       ARE_WORDS(result->value) && ARE_WORDS(result->limit) && ARE_WORDS(result->source) &&
	       ARE_WORDS(result->why) && osp_valid_flag(&result->speed) &&
	       osp_valid_flag(&result->later) && osp_valid_flag(&result->twice);
}

bool osp_valid_speed(struct osp_speed *speed)
{
	return ARE_WORDS(speed->subject) && ARE_WORDS(speed->what) && ARE_WORDS(speed->unit) &&
	       ARE_WORDS(speed->model) && ARE_WORDS(speed->held) && ARE_WORDS(speed->doubt) &&
	       osp_valid_flag(&speed->judged) && (unsigned int)speed->least <= OSP_LIMIT_COUNT &&
	       (unsigned int)speed->physics <= OSP_LIMIT_COUNT;
}

bool osp_valid_figure(struct osp_figure *figure)
{
	return ARE_WORDS(figure->subject) && ARE_WORDS(figure->name) && isfinite(figure->value);
}
