/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_license.c - the license that holds gangs where only Slurm itself is left */
#include "lib/policy/gang_license.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define BETWEEN	       ",;|" /* slurmctld/licenses.c, _build_license_list() */
#define AFTER_NAME     ":="
#define OFFERED_NUMBER "1000000"
#define TAKEN_NUMBER   "2"
#define TAKEN	       OSP_GANG_LICENSE ":" TAKEN_NUMBER

/* Tells whether the word of this length is the license, with a number or without. */
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

/* Tells whether the words name the license once, with as many as a gang takes. */
static bool takes_it(const char *licenses)
{
	size_t bytes;
	const char *word = find(licenses, &bytes);

	return word && bytes == strlen(TAKEN) &&
	       !strncmp(word + strlen(OSP_GANG_LICENSE) + 1, TAKEN_NUMBER, strlen(TAKEN_NUMBER)) &&
	       !find(word + bytes, &bytes);
}

int osp_gang_license_add(const char *licenses, char **with)
{
	struct osp_text text = OSP_TEXT_INIT;

	*with = NULL;
	if (licenses && strchr(licenses, '|'))
		return -1;
	if (takes_it(licenses))
		return 0;
	for (const char *at = licenses ? licenses : ""; *at; at += strspn(at, BETWEEN)) {
		size_t bytes = strcspn(at, BETWEEN);

		if (bytes && !is_it(at, bytes)) {
			osp_text_add_bytes(&text, at, bytes);
			osp_text_add(&text, ",");
		}
		at += bytes;
	}
	osp_text_add(&text, TAKEN);
	*with = osp_text_take(&text);
	return *with ? 0 : -2;
}
