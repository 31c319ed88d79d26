/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_topograph.c - reads topograph's models, and what topograph generates for Slurm
 *
 * A model lists switches with the switches below them, and blocks of nodes with the switch above
 * them. topology.conf says the same, so the model is written in that form and read as such; places
 * in errors are the model's.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/topology/file_kind.h"
#include "lib/topology/readers.h"

struct model {
	const struct osp_document *document;
	struct osp_error *error;
	struct osp_text conf;
	const struct osp_value *
		*lines; /* by line of `conf`: the part of the model it was made of */
	uint32_t line_count;
	uint32_t line_room;
};

/* Adds a word that needs no quotes in a topology.conf. */
static int add_word(struct model *model, const struct osp_value *value, const char *word)
{
	if (!*word || strpbrk(word, " \t\r\n\"'#=\\"))
		return osp_document_error(
			model->document, value, model->error,
			"a name or a list in Slurm's notation is expected, without blanks and "
			"quotes");
	osp_text_add(&model->conf, word);
	return 0;
}

/* Adds a list of words, separated by commas. */
static int add_list(struct model *model, const struct osp_value *list)
{
	const char *word;

	if (list->type != OSP_VALUE_LIST || !list->first)
		return osp_document_error(model->document, list, model->error,
					  "a list of names is expected");
	for (const struct osp_value *v = list->first; v; v = v->next) {
		if (v != list->first)
			osp_text_add(&model->conf, ",");
		if (v->type != OSP_VALUE_SCALAR)
			return osp_document_error(model->document, v, model->error,
						  "a name is expected");
		word = v->text;
		if (add_word(model, v, word))
			return -1;
	}
	return 0;
}

static int end_line(struct model *model, const struct osp_value *of)
{
	osp_text_add(&model->conf, "\n");
	if (osp_make_room((void **)&model->lines, &model->line_room, model->line_count,
			  sizeof(struct osp_value *)))
		return osp_error_set(model->error, "out of memory");
	model->lines[model->line_count++] = of;
	return 0;
}

/* Adds a switch: "S1: {switches: [S2, S3]}". */
static int add_switch(struct model *model, const struct osp_value *value)
{
	const struct osp_value *below = osp_value_get(value, "switches");

	if (value->type != OSP_VALUE_MAP || !below)
		return osp_document_error(model->document, value, model->error,
					  "the \"switches\" below switch %.64s are expected",
					  value->key);
	osp_text_add(&model->conf, "SwitchName=");
	if (add_word(model, value, value->key))
		return -1;
	osp_text_add(&model->conf, " Switches=");
	return add_list(model, below) || end_line(model, value) ? -1 : 0;
}

static const struct osp_value *switch_of(const struct osp_value *block)
{
	return block->type == OSP_VALUE_MAP ? osp_value_get(block, "switch") : NULL;
}

/*
 * Returns whether an earlier block is on the same switch; add_leaf() has then added the nodes of
 * both.
 */
static bool is_reported(const struct osp_value *blocks, const struct osp_value *block,
			const char *name)
{
	for (const struct osp_value *v = blocks->first; v != block; v = v->next) {
		if (!strcmp(switch_of(v)->text, name))
			return true;
	}
	return false;
}

/* Adds the nodes of all blocks on the switch of `block`, which is the first of these. */
static int add_leaf(struct model *model, const struct osp_value *block, const char *name)
{
	osp_text_add(&model->conf, "SwitchName=");
	if (add_word(model, switch_of(block), name))
		return -1;
	osp_text_add(&model->conf, " Nodes=");
	for (const struct osp_value *v = block; v; v = v->next) {
		const struct osp_value *on = switch_of(v);
		const struct osp_value *nodes =
			v->type == OSP_VALUE_MAP ? osp_value_get(v, "nodes") : NULL;

		if (!on || on->type != OSP_VALUE_SCALAR || !nodes)
			return osp_document_error(
				model->document, v, model->error,
				"a block's \"switch\" and \"nodes\" are expected");
		if (strcmp(on->text, name) != 0)
			continue;
		if (v != block)
			osp_text_add(&model->conf, ",");
		if (add_list(model, nodes))
			return -1;
	}
	return end_line(model, block);
}

static int add_model(struct model *model, const struct osp_value *root)
{
	const struct osp_value *switches = osp_value_get(root, "switches");
	const struct osp_value *blocks = osp_value_get(root, "blocks");

	if (!blocks || blocks->type != OSP_VALUE_LIST || !blocks->first)
		return osp_document_error(
			model->document, blocks ? blocks : root, model->error,
			"a list of \"blocks\" is expected, as in topograph's models");
	if (switches && switches->type != OSP_VALUE_MAP)
		return osp_document_error(model->document, switches, model->error,
					  "switches by their names are expected");
	for (const struct osp_value *v = blocks->first; v; v = v->next) {
		const struct osp_value *on = switch_of(v);

		if (!on || on->type != OSP_VALUE_SCALAR)
			return osp_document_error(model->document, v, model->error,
						  "a block's \"switch\" is expected");
		if (!is_reported(blocks, v, on->text) && add_leaf(model, v, on->text))
			return -1;
	}
	for (const struct osp_value *v = switches ? switches->first : NULL; v; v = v->next) {
		if (add_switch(model, v))
			return -1;
	}
	return 0;
}

/* Reads the topology.conf; gives errors in it the places of the model. */
static struct osp_topology *read_conf(struct model *model, const char *file)
{
	struct osp_error inner = {.text = ""};
	struct osp_topology *topology = NULL;
	size_t bytes = model->conf.length_bytes;
	char *text = osp_text_take(&model->conf);

	if (!text)
		osp_error_set(model->error, "out of memory");
	else
		topology = osp_read_slurm_topology(file, text, bytes, &inner);
	if (text && !topology && inner.line > 0 && (uint32_t)inner.line <= model->line_count)
		osp_document_error(model->document, model->lines[inner.line - 1], model->error,
				   "%.400s", inner.text);
	else if (text && !topology)
		osp_error_set(model->error, "%.400s", inner.text);
	free(text);
	return topology;
}

struct osp_topology *osp_read_topograph(const char *file, const char *text, size_t text_bytes,
					struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	struct model model = {.error = error};
	struct osp_topology *topology = NULL;
	struct osp_document *document;

	if (kind == OSP_FILE_SLURM_TREE || kind == OSP_FILE_SLURM_YAML ||
	    kind == OSP_FILE_SLURM_BLOCK)
		return osp_read_slurm_topology(file, text, text_bytes, error);
	document = osp_document_read(file, text, text_bytes, error);
	if (!document)
		return NULL;
	model.document = document;
	if (!add_model(&model, osp_document_root(document)))
		topology = read_conf(&model, file);
	osp_text_free(&model.conf);
	free(model.lines);
	osp_document_free(document);
	return topology;
}
