/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_cache.c - what is known about this node, kept by root from boot to boot */
#include "onespine_config.h"
#include "lib/cache/node_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/private_file.h"
#include "lib/base/text.h"
#include "lib/bind/bind_machine_text.h"
#include "lib/env/node_facts.h"
#include "lib/env/node_software.h"
#include "lib/cache/node_stamp.h"

#define FIRST_LINE "onespine-node 2 "
#define FILE_NAME  "node"

void osp_node_forget(struct osp_node_known *known)
{
	if (!known)
		return;
	osp_machine_free(known->machine);
	free(known);
}

/* --- looking ---------------------------------------------------------------------------------- */

static struct osp_machine *look_at_machine(const struct osp_node_source *source,
					   struct osp_error *error)
{
	struct osp_machine *machine = NULL;
	size_t length = 0;
	char *text;

	if (!source->topology)
		return osp_machine_here(error);
	text = osp_read_file(source->topology, OSP_MACHINE_XML_BYTES_MAX, &length);
	if (text)
		machine = osp_machine_read(source->topology, text, length, error);
	else
		osp_error_at(error, source->topology, 0, 0, "cannot be read: %s", strerror(errno));
	free(text);
	return machine;
}

static struct osp_node_known *look(const struct osp_node_source *source, struct osp_error *error)
{
	struct osp_node_known *known = calloc(1, sizeof(*known));
	struct osp_catalogue *catalogue = osp_catalogue_read(source->data, source->site, error);
	struct osp_node node;

	if (!known)
		osp_error_set(error, "out of memory");
	if (known && catalogue) {
		osp_node_hardware(source->root, catalogue, &known->hardware, &node);
		osp_node_software_usual(source->root, &known->software);
		memcpy(known->product, node.product, sizeof(known->product));
		known->gpus = node.gpus;
		known->type_gpus = node.instance ? node.instance->accelerators : -1;
		known->machine = look_at_machine(source, error);
	}
	osp_catalogue_free(catalogue);
	if (known && known->machine)
		return known;
	osp_node_forget(known);
	return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_facts(struct osp_text *text, const char *kind, const struct osp_facts *facts)
{
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		const struct osp_fact *fact = &facts->facts[i];

		if (fact->known && !strpbrk(fact->text, "\n"))
			osp_text_printf(text, "%s %s %s\n", kind,
					osp_fact_name((enum osp_fact_id)i), fact->text);
	}
}

static char *write_down(const struct osp_node_known *known, const char *watched)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_printf(&text, FIRST_LINE "%016" PRIx64 "\n%s", known->stamp, watched);
	osp_text_printf(&text, "gpus %d %" PRId64 "\n", known->gpus, known->type_gpus);
	osp_text_printf(&text, "product %s\n", known->product);
	add_facts(&text, "hardware", &known->hardware);
	add_facts(&text, "software", &known->software);
	osp_machine_write(known->machine, &text);
	return osp_text_take(&text);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns whether the sources of the text are unchanged. */
static bool still_holds(const struct osp_node_source *source, const char *text, uint64_t *stamp)
{
	const char *end = strchr(text, '\n');
	char line[64];

	if (!end || strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0)
		return false;
	*stamp = osp_node_stamp(source, end + 1);
	snprintf(line, sizeof(line), FIRST_LINE "%016" PRIx64 "\n", *stamp);
	return !strncmp(text, line, strlen(line));
}

static bool take_fact(struct osp_facts *facts, char *words)
{
	const char *name = strsep(&words, " ");
	enum osp_fact_id id;

	return words && !osp_fact_find(name, &id, NULL) && !osp_facts_set(facts, id, words, NULL);
}

/* Reads a line before the machine's. Returns false if it was not written in this form. */
static bool take_line(struct osp_node_known *known, char *line)
{
	char *words = line;
	const char *kind = strsep(&words, " ");

	if (!words)
		return false;
	if (!strcmp(kind, "watch"))
		return true;
	if (!strcmp(kind, "hardware"))
		return take_fact(&known->hardware, words);
	if (!strcmp(kind, "software"))
		return take_fact(&known->software, words);
	if (!strcmp(kind, "product"))
		return snprintf(known->product, sizeof(known->product), "%s", words) >= 0;
	if (strcmp(kind, "gpus") != 0 ||
	    sscanf(words, "%d %" SCNd64, &known->gpus, &known->type_gpus) != 2)
		return false;
	osp_facts_take_accelerators(&known->hardware, known->type_gpus);
	return true;
}

static struct osp_node_known *read_back(char *text, uint64_t stamp)
{
	struct osp_node_known *known = calloc(1, sizeof(*known));
	char *rest = strchr(text, '\n');
	bool good = known && rest;

	for (rest = rest ? rest + 1 : NULL; good && rest && strncmp(rest, "machine ", 8) != 0;)
		good = take_line(known, strsep(&rest, "\n"));
	if (good && rest)
		known->machine = osp_machine_parse(rest, NULL);
	if (good && known->machine) {
		known->was_kept = true;
		known->stamp = stamp;
		return known;
	}
	osp_node_forget(known);
	return NULL;
}

/* --- both ------------------------------------------------------------------------------------- */

/* Looks at the node and keeps the result. Takes the stamp first, so that a change meanwhile is seen
 * the next time. */
static struct osp_node_known *look_and_keep(const struct osp_node_source *source,
					    struct osp_error *error)
{
	struct osp_text watched = OSP_TEXT_INIT;
	struct osp_node_known *known;
	uint64_t stamp = 0;
	char *text = NULL;

	if (source->folder) {
		osp_node_watch(source, &watched);
		stamp = watched.failed ? 0 : osp_node_stamp(source, watched.data);
	}
	known = look(source, error);
	if (known) {
		known->stamp = stamp;
		text = stamp ? write_down(known, watched.data) : NULL;
	}
	if (text)
		osp_private_write(source->folder, FILE_NAME, text, strlen(text));
	free(text);
	osp_text_free(&watched);
	return known;
}

bool osp_node_is_kept(const struct osp_node_source *source)
{
	size_t length = 0;
	char *text = source->folder ? osp_private_read(source->folder, FILE_NAME, &length) : NULL;
	uint64_t stamp;
	bool kept = text && still_holds(source, text, &stamp);

	free(text);
	return kept;
}

struct osp_node_known *osp_node_know(const struct osp_node_source *source, struct osp_error *error)
{
	size_t length = 0;
	char *text = source->folder ? osp_private_read(source->folder, FILE_NAME, &length) : NULL;
	struct osp_node_known *known = NULL;
	uint64_t stamp;

	if (text && still_holds(source, text, &stamp))
		known = read_back(text, stamp);
	free(text);
	return known ? known : look_and_keep(source, error);
}
