/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugstack.c - plugstack.conf, the list of SPANK plugins, a line at a time as Slurm reads it */
#include "lib/conf/plugstack.h"

#include <string.h>

/* The blanks of Slurm's parser. */
#define BLANKS " \t\n"

void osp_plugstack_start(struct osp_plugstack *stack, const char *text, size_t text_bytes)
{
	*stack = (struct osp_plugstack){text, text + text_bytes, 0};
}

/* Finds the next word of [*at, end). Returns its length; 0 if there is none. */
static size_t next_word(const char **at, const char *end)
{
	const char *word_end;

	while (*at < end && strchr(BLANKS, **at))
		(*at)++;
	for (word_end = *at; word_end < end && !strchr(BLANKS, *word_end); word_end++)
		;
	return (size_t)(word_end - *at);
}

static enum osp_plugstack_kind kind_of(const char *word, size_t length)
{
	static const char *const words[] = {
		[OSP_PLUGSTACK_REQUIRED] = "required",
		[OSP_PLUGSTACK_OPTIONAL] = "optional",
		[OSP_PLUGSTACK_INCLUDE] = "include",
	};

	for (int kind = OSP_PLUGSTACK_REQUIRED; kind <= OSP_PLUGSTACK_INCLUDE; kind++)
		if (strlen(words[kind]) == length && memcmp(words[kind], word, length) == 0)
			return kind;
	return OSP_PLUGSTACK_WRONG;
}

static void read_line(const char *at, const char *end, struct osp_plugstack_line *line)
{
	const char *comment = memchr(at, '#', (size_t)(end - at));
	size_t length;

	if (comment)
		end = comment;
	length = next_word(&at, end);
	if (!length)
		return;
	line->kind = kind_of(at, length);
	at += length;
	length = next_word(&at, end);
	if (!length || length >= sizeof(line->path))
		line->kind = OSP_PLUGSTACK_WRONG;
	if (line->kind == OSP_PLUGSTACK_WRONG)
		return;
	memcpy(line->path, at, length);
	line->path[length] = '\0';
}

int osp_plugstack_next(struct osp_plugstack *stack, struct osp_plugstack_line *line)
{
	const char *end;

	if (stack->at == stack->end)
		return 0;
	end = memchr(stack->at, '\n', (size_t)(stack->end - stack->at));
	if (!end)
		end = stack->end;
	*line = (struct osp_plugstack_line){.line = ++stack->line};
	read_line(stack->at, end, line);
	stack->at = end < stack->end ? end + 1 : end;
	return 1;
}
