/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_license.c - the license that holds gangs where only Slurm itself is left */
#include "lib/policy/gang_license.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

#define BETWEEN	       ",;|" /* slurmctld/licenses.c, _build_license_list() */
#define AFTER_NAME     ":="
#define OFFERED_NUMBER "1000000"
#define SLURM_25_05_0  0x190500
#define SLURM_25_11_7  0x190b07
#define TAKEN_COUNT    2 /* as OSP_GANG_LICENSE_TAKEN says */

/* Returns whether the word of this length is the license, with a number or without. */
static bool is_it(const char *word, size_t bytes)
{
	size_t name_bytes = strcspn(word, AFTER_NAME);

	return (name_bytes < bytes ? name_bytes : bytes) == strlen(OSP_GANG_LICENSE) &&
	       !strncmp(word, OSP_GANG_LICENSE, strlen(OSP_GANG_LICENSE));
}

/* Finds the license's first word; NULL if there is none. */
static const char *find(const char *licenses, size_t *bytes)
{
	for (const char *at = licenses ? licenses : ""; *at; at += strspn(at, BETWEEN)) {
		*bytes = strcspn(at, BETWEEN);
		if (is_it(at, *bytes))
			return at;
		at += *bytes;
	}
	return NULL;
}

bool osp_gang_license_is_in(const char *licenses)
{
	size_t bytes;

	return find(licenses, &bytes) != NULL;
}

/* Returns the number of a word of the license, as Slurm reads it, or one that is too large. */
static uint64_t number_of(const char *word, size_t bytes)
{
	size_t name_bytes = strlen(OSP_GANG_LICENSE);
	uint64_t number = 0;

	if (bytes == name_bytes)
		return 1;
	for (size_t i = name_bytes + 1; i < bytes; i++) {
		if (word[i] < '0' || word[i] > '9' || number > UINT32_MAX)
			return UINT32_MAX;
		number = number * 10 + (uint64_t)(word[i] - '0');
	}
	return number;
}

bool osp_gang_license_holds(const char *licenses)
{
	uint64_t offered = 0;
	size_t bytes;

	for (const char *word = find(licenses, &bytes); word; word = find(word + bytes, &bytes))
		offered += number_of(word, bytes);
	return offered > 0 && offered < TAKEN_COUNT;
}

/* Adds the words of other licenses, each with a comma. */
static void add_others(struct osp_text *text, const char *licenses)
{
	for (const char *at = licenses ? licenses : ""; *at; at += strspn(at, BETWEEN)) {
		size_t bytes = strcspn(at, BETWEEN);

		if (bytes && !is_it(at, bytes)) {
			osp_text_add_bytes(text, at, bytes);
			osp_text_add(text, ",");
		}
		at += bytes;
	}
}

char *osp_gang_license_only(const char *licenses)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (licenses && strcasecmp(licenses, "none") != 0)
		add_others(&text, licenses);
	osp_text_add(&text, OSP_GANG_LICENSE_SETTING);
	return osp_text_take(&text);
}

char *osp_gang_license_offer(const char *licenses)
{
	struct osp_text text = OSP_TEXT_INIT;
	size_t bytes;
	const char *word = find(licenses, &bytes);

	if (!word)
		return NULL;
	osp_text_add_bytes(&text, licenses, (size_t)(word - licenses));
	osp_text_add(&text, OSP_GANG_LICENSE ":" OFFERED_NUMBER);
	osp_text_add(&text, word + bytes);
	return osp_text_take(&text);
}

/* Returns whether the words name the license once, with as many as a gang takes. */
static bool takes_it(const char *licenses)
{
	size_t bytes;
	const char *word = find(licenses, &bytes);

	return word && number_of(word, bytes) == TAKEN_COUNT && !find(word + bytes, &bytes);
}

int osp_gang_license_add(const char *licenses, char **with)
{
	struct osp_text text = OSP_TEXT_INIT;

	*with = NULL;
	if (licenses && strchr(licenses, '|'))
		return -1;
	if (takes_it(licenses))
		return 0;
	add_others(&text, licenses);
	osp_text_add(&text, OSP_GANG_LICENSE_TAKEN);
	*with = osp_text_take(&text);
	return *with ? 0 : -2;
}

bool osp_gang_license_is_kept(uint32_t slurm)
{
	return slurm < SLURM_25_05_0 || slurm >= SLURM_25_11_7;
}
