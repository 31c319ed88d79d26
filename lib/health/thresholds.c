/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds.c - what a healthy node may show, and how much a check counts */
#include "lib/health/thresholds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"
#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "lib/health/thresholds_private.h"

/* A value that no machine can have, or that makes no sense for a counter, is a mistake in the
 * file. */
static const struct {
	const char *name;
	int64_t least;
	int64_t most;
} known[OSP_LIMIT_COUNT] = {
	[OSP_LIMIT_BOOT_SETTLE_S] = {"boot_settle_s", 0, 3600},
	[OSP_LIMIT_FABRIC_GRACE_S] = {"fabric_grace_s", 0, 7200},
	[OSP_LIMIT_GPUS] = {"gpus", 0, 64},
	[OSP_LIMIT_ECC_UNCORRECTED] = {"ecc_uncorrected", 0, 1000},
	[OSP_LIMIT_ECC_CORRECTED] = {"ecc_corrected", 1, 1000000000},
	[OSP_LIMIT_SRAM_UNCORRECTED] = {"sram_uncorrected", 0, 1000},
	[OSP_LIMIT_ROW_REMAPS] = {"row_remaps", 1, 512},
	[OSP_LIMIT_RETIRED_PAGES] = {"retired_pages", 1, 64},
	[OSP_LIMIT_RETIRED_PAGES_WARN] = {"retired_pages_warn", 1, 64},
	[OSP_LIMIT_TEMPERATURE_C] = {"temperature_c", 40, 110},
	[OSP_LIMIT_NVLINKS] = {"nvlinks", 0, 36},
	[OSP_LIMIT_NVLINK_CRC_PER_S] = {"nvlink_crc_per_s", 1, 1000000},
	[OSP_LIMIT_PCIE_GENERATION] = {"pcie_generation", 1, 7},
	[OSP_LIMIT_PCIE_WIDTH] = {"pcie_width", 1, 16},
	[OSP_LIMIT_EFA_DEVICES] = {"efa_devices", 0, 64},
	[OSP_LIMIT_IB_PORTS] = {"ib_ports", 0, 64},
	[OSP_LIMIT_IB_RATE_GBPS] = {"ib_rate_gbps", 10, 1600},
	[OSP_LIMIT_NEURON_DEVICES] = {"neuron_devices", 0, 64},
	[OSP_LIMIT_CORES] = {"cores", 1, 4096},
	[OSP_LIMIT_NUMA_NODES] = {"numa_nodes", 1, 64},
	[OSP_LIMIT_MEMORY_GIB] = {"memory_gib", 1, 65536},
	[OSP_LIMIT_OPEN_FILES] = {"open_files", 1024, 1073741816},
	[OSP_LIMIT_FREE_PERCENT] = {"free_percent", 1, 90},
	[OSP_LIMIT_MOUNT_ANSWER_MS] = {"mount_answer_ms", 50, 60000},
	[OSP_LIMIT_CLOCK_ERROR_MS] = {"clock_error_ms", 1, 60000},
	[OSP_LIMIT_NVLINK_MBPS] = {"nvlink_mbps", 1000, 200000},
	[OSP_LIMIT_IB_FLAPS] = {"ib_flaps", 1, 1000},
	[OSP_LIMIT_LOCAL_DISKS] = {"local_disks", 0, 64},
	[OSP_LIMIT_HUGE_PAGES] = {"huge_pages", 1, 16777216},
	[OSP_LIMIT_HBM_BEHIND_PERCENT] = {"hbm_behind_percent", 0, 60},
	[OSP_LIMIT_HBM_FAR_BEHIND_PERCENT] = {"hbm_far_behind_percent", 0, 60},
	[OSP_LIMIT_COMPUTE_BEHIND_PERCENT] = {"compute_behind_percent", 0, 60},
	[OSP_LIMIT_COMPUTE_FAR_BEHIND_PERCENT] = {"compute_far_behind_percent", 0, 60},
	[OSP_LIMIT_HOST_COPY_BEHIND_PERCENT] = {"host_copy_behind_percent", 0, 60},
	[OSP_LIMIT_HOST_COPY_FAR_BEHIND_PERCENT] = {"host_copy_far_behind_percent", 0, 60},
	[OSP_LIMIT_PEER_BEHIND_PERCENT] = {"peer_behind_percent", 0, 60},
	[OSP_LIMIT_PEER_FAR_BEHIND_PERCENT] = {"peer_far_behind_percent", 0, 60},
	[OSP_LIMIT_HBM_GBPS] = {"hbm_gbps", 50, 20000},
	[OSP_LIMIT_HBM_PEAK_GBPS] = {"hbm_peak_gbps", 100, 40000},
	[OSP_LIMIT_HOST_COPY_GBPS] = {"host_copy_gbps", 1, 1000},
	[OSP_LIMIT_HOST_COPY_PEAK_GBPS] = {"host_copy_peak_gbps", 2, 2000},
	[OSP_LIMIT_PEER_GBPS] = {"peer_gbps", 1, 3600},
	[OSP_LIMIT_PEER_PEAK_GBPS] = {"peer_peak_gbps", 2, 7200},
	[OSP_LIMIT_BF16_TFLOPS] = {"bf16_tflops", 5, 10000},
	[OSP_LIMIT_BF16_PEAK_TFLOPS] = {"bf16_peak_tflops", 10, 20000},
	[OSP_LIMIT_ALL_REDUCE_GBPS] = {"all_reduce_gbps", 1, 3600},
	[OSP_LIMIT_ALL_REDUCE_PEAK_GBPS] = {"all_reduce_peak_gbps", 2, 7200},
	[OSP_LIMIT_GANG_ALL_REDUCE_GBPS] = {"gang_all_reduce_gbps", 1, 3600},
	[OSP_LIMIT_NETWORK_PEAK_GBPS] = {"network_peak_gbps", 1, 3600},
	[OSP_LIMIT_SITE_CHECK_S] = {"site_check_s", 1, 3600},
};

static const char *const mode_names[] = {
	[OSP_CHECK_OFF] = "off",
	[OSP_CHECK_LOG] = "log",
	[OSP_CHECK_COMMENT] = "comment",
	[OSP_CHECK_ENFORCE] = "enforce",
};

static const char *const unproven_names[] = {"warn", "fail"};

enum scope { SCOPE_ALL, SCOPE_MODEL, SCOPE_NODE };

#define MODES_MAX (OSP_CHECK_NAMES_MAX + OSP_SITE_CHECKS_MAX)

struct entry {
	struct osp_limit_entry reported;
	enum scope scope;
};

struct osp_thresholds {
	struct osp_document **documents; /* hold the strings */
	size_t document_count;
	char **places; /* "FILE:LINE", sources of limits that have none */
	size_t place_count;
	struct entry *entries; /* the last of equal ones counts */
	size_t entry_count;
	const char *check_names[MODES_MAX];
	enum osp_check_mode modes[MODES_MAX];
	size_t mode_count;
	enum osp_check_mode mode_of_all;
	bool unproven_fails;
	uint64_t hash;
};

/* One file that is being read. */
struct reading {
	struct osp_thresholds *thresholds;
	const struct osp_document *document;
	const char *file;
	const char *const *check_names;
	size_t check_count;
	struct osp_error *error;
};

const char *osp_limit_name(enum osp_limit_id id)
{
	return known[id].name;
}

void osp_limit_range(enum osp_limit_id id, int64_t *least, int64_t *most)
{
	*least = known[id].least;
	*most = known[id].most;
}

const char *osp_check_mode_name(enum osp_check_mode mode)
{
	return mode_names[mode];
}

struct osp_thresholds *osp_thresholds_new(void)
{
	struct osp_thresholds *thresholds = calloc(1, sizeof(*thresholds));

	if (thresholds)
		thresholds->mode_of_all = OSP_CHECK_ENFORCE;
	return thresholds;
}

void osp_thresholds_free(struct osp_thresholds *thresholds)
{
	if (!thresholds)
		return;
	for (size_t i = 0; i < thresholds->document_count; i++)
		osp_document_free(thresholds->documents[i]);
	for (size_t i = 0; i < thresholds->place_count; i++)
		free(thresholds->places[i]);
	free(thresholds->documents);
	free(thresholds->places);
	free(thresholds->entries);
	free(thresholds);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int no_memory(const struct reading *reading)
{
	return osp_error_at(reading->error, reading->file, 0, 0, "out of memory");
}

/* Makes room for one more entry of `size` bytes. Returns the array, or NULL if memory ran out. */
static void *grow(void *array, size_t count, size_t size)
{
	if (count >= SIZE_MAX / size - 1)
		return NULL;
	return realloc(array, (count + 1) * size);
}

/* Returns "FILE:LINE", kept with the table; NULL if memory ran out. */
static const char *place_words(struct reading *reading, const struct osp_value *value)
{
	struct osp_thresholds *thresholds = reading->thresholds;
	struct osp_text text = OSP_TEXT_INIT;
	char **places = grow(thresholds->places, thresholds->place_count, sizeof(*places));

	if (!places)
		return NULL;
	thresholds->places = places;
	osp_text_printf(&text, "%s:%d", reading->file, value->line);
	places[thresholds->place_count] = osp_text_take(&text);
	if (!places[thresholds->place_count])
		return NULL;
	return places[thresholds->place_count++];
}

/* Reads "18" or {value: 18, unproven: true, source: "..."}. */
static int take_value(struct reading *reading, const struct osp_value *value, enum osp_limit_id id,
		      struct osp_limit *limit)
{
	static const char *const keys[] = {"value", "unproven", "source"};
	const struct osp_value *number = value;

	limit->source = NULL;
	limit->unproven = false;
	limit->of_site = reading->thresholds->document_count > 1;
	if (value->type == OSP_VALUE_MAP) {
		const struct osp_value *source, *unproven;

		if (osp_value_only_keys(reading->document, value, keys, 3, reading->error))
			return -1;
		number = osp_value_get(value, "value");
		unproven = osp_value_get(value, "unproven");
		source = osp_value_get(value, "source");
		if (!number)
			return osp_error_at(reading->error, reading->file, value->key_line,
					    value->key_column, "%s: a value is missing",
					    value->key);
		if (unproven &&
		    osp_value_bool(reading->document, unproven, &limit->unproven, reading->error))
			return -1;
		if (source &&
		    osp_value_string(reading->document, source, &limit->source, reading->error))
			return -1;
	}
	if (osp_value_integer(reading->document, number, known[id].least, known[id].most,
			      &limit->value, reading->error))
		return -1;
	if (!limit->source)
		limit->source = place_words(reading, number);
	return limit->source ? 0 : no_memory(reading);
}

static int add_entry(struct reading *reading, const struct entry *entry)
{
	struct osp_thresholds *thresholds = reading->thresholds;
	struct entry *entries =
		grow(thresholds->entries, thresholds->entry_count, sizeof(*entries));

	if (!entries)
		return no_memory(reading);
	entries[thresholds->entry_count++] = *entry;
	thresholds->entries = entries;
	return 0;
}

static int expect_map(const struct reading *reading, const struct osp_value *value,
		      const char *what)
{
	if (value->type == OSP_VALUE_MAP)
		return 0;
	return osp_document_error(reading->document, value, reading->error,
				  "%s: a map is expected, not a %s", value->key ? value->key : what,
				  value->type == OSP_VALUE_LIST ? "list" : "word");
}

static int take_limits(struct reading *reading, const struct osp_value *map, enum scope scope,
		       const char *place)
{
	const char *names[OSP_LIMIT_COUNT];

	if (osp_value_is_null(map))
		return 0;
	for (int id = 0; id < OSP_LIMIT_COUNT; id++)
		names[id] = known[id].name;
	if (expect_map(reading, map, "limits") ||
	    osp_value_only_keys(reading->document, map, names, OSP_LIMIT_COUNT, reading->error))
		return -1;
	for (int id = 0; id < OSP_LIMIT_COUNT; id++) {
		const struct osp_value *value = osp_value_get(map, known[id].name);
		struct entry entry = {.reported = {.id = id, .place = place}, .scope = scope};

		if (value && (take_value(reading, value, id, &entry.reported.limit) ||
			      add_entry(reading, &entry)))
			return -1;
	}
	return 0;
}

/* Reads models or nodes, each a map of limits. */
static int take_places(struct reading *reading, const struct osp_value *map, enum scope scope)
{
	if (osp_value_is_null(map))
		return 0;
	if (expect_map(reading, map, "models"))
		return -1;
	for (const struct osp_value *child = map->first; child; child = child->next) {
		if (take_limits(reading, child, scope, child->key))
			return -1;
	}
	return 0;
}

static int take_mode(struct reading *reading, const struct osp_value *value)
{
	struct osp_thresholds *thresholds = reading->thresholds;
	size_t mode, i;

	if (osp_value_choice(reading->document, value, mode_names,
			     sizeof(mode_names) / sizeof(mode_names[0]), &mode, reading->error))
		return -1;
	if (strcmp(value->key, "all") == 0) {
		thresholds->mode_of_all = (enum osp_check_mode)mode;
		thresholds->mode_count = 0;
		return 0;
	}
	for (i = 0; i < thresholds->mode_count; i++)
		if (strcmp(thresholds->check_names[i], value->key) == 0)
			break;
	if (i == MODES_MAX)
		return osp_document_error(reading->document, value, reading->error,
					  "checks: at most %d of a site's own are expected",
					  OSP_SITE_CHECKS_MAX);
	if (osp_site_check_named(value->key)) /* lives as long as the document */
		thresholds->check_names[i] = value->key;
	for (size_t n = 0; i == thresholds->mode_count && n < reading->check_count; n++)
		if (strcmp(reading->check_names[n], value->key) == 0)
			thresholds->check_names[i] = reading->check_names[n];
	thresholds->modes[i] = (enum osp_check_mode)mode;
	if (i == thresholds->mode_count)
		thresholds->mode_count++;
	return 0;
}

bool osp_site_check_named(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t length = strlen(name);

	return length > 3 && length < OSP_SITE_CHECK_NAME_BYTES &&
	       strspn(name, "0123456789") == 2 && name[2] == '-' && strspn(name, letters) == length;
}

/* Checks the names: those of our checks, "all", and any that may be a site's. */
static int expect_checks(struct reading *reading, const struct osp_value *map)
{
	const char *names[MODES_MAX + 1];
	size_t count = 0;

	if (expect_map(reading, map, "checks"))
		return -1;
	while (count < reading->check_count) {
		names[count] = reading->check_names[count];
		count++;
	}
	names[count++] = "all";
	for (const struct osp_value *child = map->first; child && count <= MODES_MAX;
	     child = child->next)
		if (osp_site_check_named(child->key))
			names[count++] = child->key;
	return osp_value_only_keys(reading->document, map, names, count, reading->error);
}

/* Reads the modes, "all" first, wherever it is. */
static int take_modes(struct reading *reading, const struct osp_value *map)
{
	const struct osp_value *child;

	if (osp_value_is_null(map))
		return 0;
	if (expect_checks(reading, map))
		return -1;
	child = osp_value_get(map, "all");
	if (child && take_mode(reading, child))
		return -1;
	for (child = map->first; child; child = child->next) {
		if (strcmp(child->key, "all") != 0 && take_mode(reading, child))
			return -1;
	}
	return 0;
}

static int take_unproven(struct reading *reading, const struct osp_value *value)
{
	size_t choice;

	if (osp_value_choice(reading->document, value, unproven_names, 2, &choice, reading->error))
		return -1;
	reading->thresholds->unproven_fails = choice == 1;
	return 0;
}

static int take_file(struct reading *reading)
{
	static const char *const keys[] = {"limits", "models", "nodes", "checks", "unproven"};
	const struct osp_value *root = osp_document_root(reading->document);
	const struct osp_value *value;

	if (osp_value_only_keys(reading->document, root, keys, 5, reading->error))
		return -1;
	value = osp_value_get(root, "limits");
	if (value && take_limits(reading, value, SCOPE_ALL, "limits"))
		return -1;
	value = osp_value_get(root, "models");
	if (value && take_places(reading, value, SCOPE_MODEL))
		return -1;
	value = osp_value_get(root, "nodes");
	if (value && take_places(reading, value, SCOPE_NODE))
		return -1;
	value = osp_value_get(root, "unproven");
	if (value && take_unproven(reading, value))
		return -1;
	value = osp_value_get(root, "checks");
	return value ? take_modes(reading, value) : 0;
}

int osp_thresholds_add(struct osp_thresholds *thresholds, const char *file, const char *text,
		       size_t text_bytes, const char *const *check_names, size_t check_count,
		       struct osp_error *error)
{
	struct reading reading = {.thresholds = thresholds,
				  .file = file ? file : "",
				  .check_names = check_names,
				  .check_count = check_count,
				  .error = error};
	struct osp_document **documents;
	struct osp_document *document;

	if (check_count > OSP_CHECK_NAMES_MAX)
		return osp_error_at(error, file, 0, 0, "more than %d checks", OSP_CHECK_NAMES_MAX);
	if (text_bytes > OSP_THRESHOLDS_FILE_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %zu bytes: no thresholds.yaml",
				    OSP_THRESHOLDS_FILE_BYTES_MAX);
	document = osp_document_read(reading.file, text, text_bytes, error);
	if (!document)
		return -1;
	documents = grow(thresholds->documents, thresholds->document_count, sizeof(*documents));
	if (!documents) {
		osp_document_free(document);
		return no_memory(&reading);
	}
	documents[thresholds->document_count++] = document;
	thresholds->hash = osp_thresholds_hash_text(thresholds->hash, text, text_bytes);
	thresholds->documents = documents;
	reading.document = document;
	return take_file(&reading);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Returns whether the name begins with these words: "NVIDIA L40S" does not begin with "NVIDIA
 * L4". */
static bool is_of_model(const char *name, const char *words, size_t length)
{
	return strncmp(name, words, length) == 0 && !isalnum((unsigned char)name[length]);
}

/* Returns how well an entry fits: 0 not at all; a longer model's name fits better; a node's
 * best. */
static size_t fitness(const struct entry *entry, const char *model, const char *node)
{
	size_t length = strlen(entry->reported.place);

	switch (entry->scope) {
	case SCOPE_ALL:
		return 1;
	case SCOPE_MODEL:
		return model && is_of_model(model, entry->reported.place, length) ? 2 + length : 0;
	case SCOPE_NODE:
		return node && strcmp(node, entry->reported.place) == 0 ? SIZE_MAX : 0;
	}
	return 0;
}

const struct osp_limit *osp_thresholds_limit(const struct osp_thresholds *thresholds,
					     enum osp_limit_id id, const char *model,
					     const char *node)
{
	const struct osp_limit *best = NULL;
	size_t best_fitness = 1;

	for (size_t i = 0; i < thresholds->entry_count; i++) {
		const struct entry *entry = &thresholds->entries[i];
		size_t fits = entry->reported.id == id ? fitness(entry, model, node) : 0;

		if (fits >= best_fitness) {
			best = &entry->reported.limit;
			best_fitness = fits;
		}
	}
	return best;
}

enum osp_check_mode osp_thresholds_mode(const struct osp_thresholds *thresholds, const char *check)
{
	for (size_t i = 0; i < thresholds->mode_count; i++)
		if (strcmp(thresholds->check_names[i], check) == 0)
			return thresholds->modes[i];
	return thresholds->mode_of_all;
}

bool osp_thresholds_unproven_fails(const struct osp_thresholds *thresholds)
{
	return thresholds->unproven_fails;
}

const struct osp_limit_entry *osp_thresholds_entry(const struct osp_thresholds *thresholds,
						   size_t index)
{
	return index < thresholds->entry_count ? &thresholds->entries[index].reported : NULL;
}

uint64_t osp_thresholds_hash(const struct osp_thresholds *thresholds)
{
	return thresholds->hash;
}

uint64_t osp_thresholds_hash_text(uint64_t hash, const char *text, size_t text_bytes)
{
	hash = osp_hash_step(hash ^ OSP_HASH_START, text_bytes);
	return osp_hash_bytes(hash, text, text_bytes);
}
