/* SPDX-License-Identifier: GPL-2.0-or-later */
/* catalogue.c - the kinds of nodes that Onespine knows, from the files of etc/instances */
#include "onespine_config.h"
#include "lib/env/catalogue.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"
#include "lib/env/folder.h"
#include "lib/base/glob.h"
#include "lib/base/text.h"

#define INSTANCES_MAX 10000

struct file {
	struct file *next;
	struct osp_document *document; /* holds the strings */
	char *name;
};

struct osp_catalogue {
	struct file *files;
	struct osp_instance *instances;
	size_t count, room;
	uint32_t top_rank;
};

/* --- the keys of a type ----------------------------------------------------------------------- */

#define HOLDERS_MOST 6 /* types to name if none has that name */

enum kind { WORD, DEVICE, CHOICE, NUMBER, ANSWER };

static const char *const vendors[] = {"nvidia", "amd", "aws"};
static const char *const cpus[] = {"intel", "amd", "grace", "graviton"};
static const char *const fabrics[] = {"efa", "infiniband", "roce", "slingshot", "ethernet"};

#define FIELD(name)   #name, offsetof(struct osp_instance, name)
#define CHOICES(list) list, sizeof(list) / sizeof((list)[0])

static const struct field {
	const char *key;
	size_t offset;
	enum kind kind;
	const char *const *words;
	size_t word_count;
	int64_t most;
} fields[] = {
	{FIELD(source), WORD, NULL, 0, 0},
	{FIELD(provider), WORD, NULL, 0, 0},
	{FIELD(product), WORD, NULL, 0, 0},
	{FIELD(chassis_tag), WORD, NULL, 0, 0},
	{FIELD(gpu_device), DEVICE, NULL, 0, 0},
	{FIELD(vendor), CHOICE, CHOICES(vendors), 0},
	{FIELD(accelerator), WORD, NULL, 0, 0},
	{FIELD(accelerators), NUMBER, NULL, 0, 1024},
	{FIELD(accelerator_memory_mib), NUMBER, NULL, 0, (int64_t)1 << 40},
	{FIELD(cpu), CHOICE, CHOICES(cpus), 0},
	{FIELD(vcpus), NUMBER, NULL, 0, 65536},
	{FIELD(memory_gib), NUMBER, NULL, 0, (int64_t)1 << 30},
	{FIELD(numa_nodes), NUMBER, NULL, 0, 1024},
	{FIELD(fabric), CHOICE, CHOICES(fabrics), 0},
	{FIELD(nics), NUMBER, NULL, 0, 1024},
	{FIELD(nic_generation), NUMBER, NULL, 0, 100},
	{FIELD(rdma_read), ANSWER, NULL, 0, 0},
	{FIELD(network_mbps), NUMBER, NULL, 0, (int64_t)1 << 40},
	{FIELD(nvlink), NUMBER, NULL, 0, 100},
	{FIELD(nvswitches), NUMBER, NULL, 0, 1024},
	{FIELD(pcie_gts), NUMBER, NULL, 0, 128},
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

const char *const *osp_catalogue_words(const char *key, size_t *count)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!strcmp(fields[i].key, key)) {
			*count = fields[i].word_count;
			return fields[i].words;
		}
	}
	return NULL;
}

/* Reads a device such as "10de:2330". */
static int take_device(const struct osp_document *document, const struct osp_value *value,
		       const struct field *field, const char **place, struct osp_error *error)
{
	static const char hex[] = "0123456789abcdef";

	if (osp_value_string(document, value, place, error))
		return -1;
	if (strlen(*place) == 9 && strspn(*place, hex) == 4 && (*place)[4] == ':' &&
	    strspn(*place + 5, hex) == 4)
		return 0;
	return osp_document_error(document, value, error,
				  "%s: a PCI vendor and device, as 10de:2330, is expected, not "
				  "'%.60s'",
				  field->key, *place);
}

static int take_field(const struct osp_document *document, const struct osp_value *value,
		      const struct field *field, struct osp_instance *instance,
		      struct osp_error *error)
{
	void *place = (char *)instance + field->offset;
	size_t index;
	bool flag;

	switch (field->kind) {
	case WORD:
		return osp_value_string(document, value, place, error);
	case DEVICE:
		return take_device(document, value, field, place, error);
	case NUMBER:
		return osp_value_integer(document, value, 0, field->most, place, error);
	case CHOICE:
		if (osp_value_choice(document, value, field->words, field->word_count, &index,
				     error))
			return -1;
		*(const char **)place = field->words[index];
		return 0;
	case ANSWER:
		if (osp_value_bool(document, value, &flag, error))
			return -1;
		*(enum osp_truth *)place = flag ? OSP_YES : OSP_NO;
		return 0;
	}
	return 0;
}

static void set_unknown(struct osp_instance *instance)
{
	memset(instance, 0, sizeof(*instance));
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (fields[i].kind == NUMBER)
			*(int64_t *)((char *)instance + fields[i].offset) = -1;
	}
	instance->rdma_read = OSP_UNKNOWN;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct osp_instance *find(const struct osp_catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->count; i++) {
		if (!strcmp(catalogue->instances[i].name, name))
			return &catalogue->instances[i];
	}
	return NULL;
}

/* Returns the place of a type: a new one, or that of the type that it replaces. */
static struct osp_instance *place_for(struct osp_catalogue *catalogue,
				      const struct osp_instance *instance, struct osp_error *error)
{
	struct osp_instance *old = find(catalogue, instance->name), *larger;
	size_t room = catalogue->room ? catalogue->room * 2 : 128;

	if (old && old->rank == instance->rank) {
		osp_error_at(error, instance->file, instance->line, 0,
			     "%s is given twice (first at %s:%d)", instance->name, old->file,
			     old->line);
		return NULL;
	}
	if (old)
		return old;
	if (catalogue->count == INSTANCES_MAX) {
		osp_error_at(error, instance->file, instance->line, 0, "more than %d types",
			     INSTANCES_MAX);
		return NULL;
	}
	if (catalogue->count == catalogue->room) {
		larger = realloc(catalogue->instances, room * sizeof(*larger));
		if (!larger) {
			osp_error_at(error, instance->file, 0, 0, "out of memory");
			return NULL;
		}
		catalogue->instances = larger;
		catalogue->room = room;
	}
	return &catalogue->instances[catalogue->count++];
}

static int take_instance(struct osp_catalogue *catalogue, const struct file *file, uint32_t rank,
			 const char *source, const struct osp_value *map, struct osp_error *error)
{
	const char *keys[FIELD_COUNT];
	struct osp_instance instance, *place;

	for (size_t i = 0; i < FIELD_COUNT; i++)
		keys[i] = fields[i].key;
	if (osp_value_only_keys(file->document, map, keys, FIELD_COUNT, error))
		return -1;
	set_unknown(&instance);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const struct osp_value *value = osp_value_get(map, fields[i].key);

		if (value && take_field(file->document, value, &fields[i], &instance, error))
			return -1;
	}
	instance.name = map->key;
	instance.file = file->name;
	instance.line = map->key_line;
	instance.rank = rank;
	if (!instance.source)
		instance.source = source;
	if (!instance.source)
		return osp_error_at(error, file->name, map->key_line, map->key_column,
				    "%.60s: a source is expected, here or at the top of the file",
				    map->key);
	if (instance.chassis_tag && (!instance.gpu_device || instance.accelerators < 1))
		return osp_error_at(error, file->name, map->key_line, map->key_column,
				    "%.60s: chassis_tag needs gpu_device and accelerators, which "
				    "tell the type",
				    map->key);
	place = place_for(catalogue, &instance, error);
	if (!place)
		return -1;
	*place = instance;
	return 0;
}

static int take_file(struct osp_catalogue *catalogue, const struct file *file, uint32_t rank,
		     struct osp_error *error)
{
	static const char *const keys[] = {"source", "instances"};
	const struct osp_value *root = osp_document_root(file->document), *value;
	const char *source = NULL;

	if (osp_value_only_keys(file->document, root, keys, 2, error))
		return -1;
	value = osp_value_get(root, "source");
	if (value && osp_value_string(file->document, value, &source, error))
		return -1;
	value = osp_value_get(root, "instances");
	if (!value)
		return 0;
	if (value->type != OSP_VALUE_MAP)
		return osp_document_error(file->document, value, error,
					  "instances: a map of types by name is expected");
	for (const struct osp_value *map = value->first; map; map = map->next) {
		if (take_instance(catalogue, file, rank, source, map, error))
			return -1;
	}
	return 0;
}

static void free_file(struct file *file)
{
	if (!file)
		return;
	osp_document_free(file->document);
	free(file->name);
	free(file);
}

int osp_catalogue_add(struct osp_catalogue *catalogue, uint32_t rank, const char *name,
		      const char *text, size_t text_bytes, struct osp_error *error)
{
	struct file *file;

	if (text_bytes > OSP_FOLDER_FILE_BYTES_MAX)
		return osp_error_at(error, name, 0, 0, "larger than %zu bytes",
				    OSP_FOLDER_FILE_BYTES_MAX);
	file = calloc(1, sizeof(*file));
	if (!file || !(file->name = strdup(name))) {
		free_file(file);
		return osp_error_at(error, name, 0, 0, "out of memory");
	}
	file->document = osp_document_read(name, text, text_bytes, error);
	if (!file->document) {
		free_file(file);
		return -1;
	}
	file->next = catalogue->files;
	catalogue->files = file;
	if (rank > catalogue->top_rank)
		catalogue->top_rank = rank;
	return take_file(catalogue, file, rank, error);
}

static int add_ours(void *context, const char *path, const char *text, size_t text_bytes,
		    struct osp_error *error)
{
	return osp_catalogue_add(context, 0, path, text, text_bytes, error);
}

static int add_site(void *context, const char *path, const char *text, size_t text_bytes,
		    struct osp_error *error)
{
	struct osp_catalogue *catalogue = context;

	return osp_catalogue_add(catalogue, catalogue->top_rank + 1, path, text, text_bytes, error);
}

int osp_catalogue_add_folder(struct osp_catalogue *catalogue, const char *folder, int site,
			     struct osp_error *error)
{
	int count = osp_folder_read(folder, site, site ? add_site : add_ours, catalogue, error);

	return count < 0 ? -1 : 0;
}

struct osp_catalogue *osp_catalogue_read(const char *data, const char *site,
					 struct osp_error *error)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(error);
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/instances", data);
	if (catalogue && !osp_catalogue_add_folder(catalogue, folder, 0, error)) {
		snprintf(folder, sizeof(folder), "%s/instances.d", site ? site : "");
		if (!site || !osp_catalogue_add_folder(catalogue, folder, 1, error))
			return catalogue;
	}
	osp_catalogue_free(catalogue);
	return NULL;
}

struct osp_catalogue *osp_catalogue_new(struct osp_error *error)
{
	struct osp_catalogue *catalogue = calloc(1, sizeof(*catalogue));

	if (!catalogue)
		osp_error_set(error, "out of memory");
	return catalogue;
}

void osp_catalogue_free(struct osp_catalogue *catalogue)
{
	struct file *next;

	if (!catalogue)
		return;
	for (struct file *file = catalogue->files; file; file = next) {
		next = file->next;
		free_file(file);
	}
	free(catalogue->instances);
	free(catalogue);
}

/* --- asking ----------------------------------------------------------------------------------- */

size_t osp_catalogue_count(const struct osp_catalogue *catalogue)
{
	return catalogue->count;
}

const struct osp_instance *osp_catalogue_at(const struct osp_catalogue *catalogue, size_t index)
{
	return &catalogue->instances[index];
}

/* Lists the types whose names contain `name`, ignoring letter case: "h100" is in dgx-h100. */
static void list_holders(const struct osp_catalogue *catalogue, const char *name,
			 struct osp_text *list)
{
	size_t found = 0;

	for (size_t i = 0; i < catalogue->count && *name; i++) {
		const char *one = catalogue->instances[i].name;

		if (strcasestr(one, name) && found++ < HOLDERS_MOST)
			osp_text_printf(list, "%s%s", found > 1 ? ", " : "; did you mean ", one);
	}
	if (found > HOLDERS_MOST)
		osp_text_printf(list, " or another of %zu", found);
	if (found)
		osp_text_add(list, "?");
}

/* Returns whether two names have the same digits in the same order. Names that differ in a digit
 * are rather those of two types (p5.48xlarge and p6.48xlarge) than one of them misspelt. */
static bool same_digits(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;; a++, b++) {
		a += strcspn(a, digits);
		b += strcspn(b, digits);
		if (!*a || *a != *b)
			return *a == *b;
	}
}

static int say_unknown(const struct osp_catalogue *catalogue, const char *name,
		       struct osp_error *error)
{
	const char **names = calloc(catalogue->count + 1, sizeof(*names)), *nearest;
	struct osp_text list = OSP_TEXT_INIT;

	if (!names)
		return osp_error_set(error, "out of memory");
	for (size_t i = 0; i < catalogue->count; i++)
		names[i] = catalogue->instances[i].name;
	list_holders(catalogue, name, &list); /* 48xlarge is nearer to g5.xlarge by its letters */
	nearest = list.length_bytes ? NULL : osp_nearest_word(name, names, catalogue->count);
	if (nearest && !same_digits(name, nearest))
		osp_text_printf(&list,
				"; if it is newer than the catalogue, describe it in a file "
				"of instances.d (doc/environment.md); the nearest is %s",
				nearest);
	else if (nearest)
		osp_text_printf(&list, "; did you mean %s?", nearest);
	osp_error_set(error, "the catalogue has no type '%.60s'%s", name,
		      list.length_bytes ? list.data : "");
	osp_text_free(&list);
	free(names);
	return -1;
}

const struct osp_instance *osp_catalogue_find(const struct osp_catalogue *catalogue,
					      const char *name, struct osp_error *error)
{
	const struct osp_instance *instance = find(catalogue, name);

	if (!instance)
		say_unknown(catalogue, name, error);
	return instance;
}

const struct osp_instance *osp_catalogue_of_product(const struct osp_catalogue *catalogue,
						    const char *product)
{
	const struct osp_instance *instance = find(catalogue, product);

	for (size_t i = catalogue->count; !instance && i-- > 0;) {
		const struct osp_instance *one = &catalogue->instances[i];

		if (one->product && osp_glob_matches(one->product, product))
			instance = one;
	}
	return instance;
}

static bool same(const char *word, const char *shown)
{
	return !word || !strcmp(word, shown);
}

/* Adds one more type that the node may be. */
static void add_rival(struct osp_recognised *recognised, const struct osp_instance *one)
{
	if (!recognised->rivals[0])
		recognised->rivals[0] = one;
	else
		recognised->rivals[1] = one;
}

/* Finds the types of the node's cloud with its GPUs: as many as it shows, or more. */
static void find_rivals(const struct osp_catalogue *catalogue, const struct osp_node_shows *shows,
			bool more, struct osp_recognised *recognised)
{
	for (size_t i = 0; i < catalogue->count; i++) {
		const struct osp_instance *one = &catalogue->instances[i];

		if (!one->chassis_tag || !osp_glob_matches(one->chassis_tag, shows->chassis_tag))
			continue;
		if (one->provider)
			recognised->provider = one->provider;
		if (same(one->gpu_device, shows->gpu_device) && same(one->fabric, shows->fabric) &&
		    (more ? one->accelerators > shows->gpus : one->accelerators == shows->gpus))
			add_rival(recognised, one);
	}
}

void osp_catalogue_recognise(const struct osp_catalogue *catalogue,
			     const struct osp_node_shows *shows, struct osp_recognised *recognised)
{
	*recognised = (struct osp_recognised){.type = NULL};
	if (*shows->product)
		recognised->type = osp_catalogue_of_product(catalogue, shows->product);
	if (recognised->type || !*shows->chassis_tag)
		return;
	find_rivals(catalogue, shows, false, recognised);
	if (!recognised->rivals[0])
		find_rivals(catalogue, shows, true, recognised);
	if (recognised->rivals[1])
		return;
	recognised->type = recognised->rivals[0];
	recognised->rivals[0] = NULL;
}
