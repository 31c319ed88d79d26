/* SPDX-License-Identifier: GPL-2.0-or-later */
/* features.c - says whether a node has what a job's --constraint asks for */
#include "lib/policy/features.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/text.h"

#define DEPTH_MAX 8

struct reader {
	const char *at;
	const char *has;
	int depth;
	bool odd; /* not an expression of the known kind */
};

static bool read_terms(struct reader *reader, char end);

static bool read_group(struct reader *reader, char end)
{
	bool met = false;

	reader->at++;
	if (++reader->depth > DEPTH_MAX)
		reader->odd = true;
	else
		met = read_terms(reader, end);
	reader->depth--;
	if (*reader->at == end)
		reader->at++;
	else
		reader->odd = true;
	return met;
}

static bool read_term(struct reader *reader)
{
	size_t length;
	bool met;

	if (*reader->at == '(')
		met = read_group(reader, ')');
	else if (*reader->at == '[')
		met = read_group(reader, ']');
	else {
		length = strcspn(reader->at, "&|,*()[]");
		reader->odd |= !length;
		met = osp_list_has(reader->has, reader->at, length);
		reader->at += length;
	}
	if (*reader->at == '*') /* the number of nodes that must have it */
		reader->at += 1 + strspn(reader->at + 1, "0123456789");
	return met;
}

/* Reads terms up to `end`, which is not consumed. */
static bool read_terms(struct reader *reader, char end)
{
	bool met = read_term(reader);

	while (!reader->odd && *reader->at && *reader->at != end) {
		char sign = *reader->at++;
		bool next;

		if (!strchr("&|,", sign)) {
			reader->odd = true;
			break;
		}
		next = read_term(reader);
		/* in brackets some nodes have the one, some the other: "[a*2&b*2]" */
		met = sign == '|' || end == ']' ? met || next : met && next;
	}
	return met;
}

bool osp_features_match(const char *asked, const char *has)
{
	struct reader reader = {.at = asked, .has = has};
	bool met;

	if (!asked || !*asked)
		return true;
	met = read_terms(&reader, '\0');
	return met || reader.odd;
}
