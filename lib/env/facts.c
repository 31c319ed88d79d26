/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - the known facts about a node, its software and a job's shape */
#include "lib/env/facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

static const struct {
	const char *name;
	enum osp_fact_kind kind;
} table[OSP_FACT_COUNT] = {
	[OSP_FACT_NCCL] = {"nccl", OSP_FACT_VERSION},
	[OSP_FACT_OFI] = {"ofi", OSP_FACT_VERSION},
	[OSP_FACT_LIBFABRIC] = {"libfabric", OSP_FACT_VERSION},
	[OSP_FACT_EFA] = {"efa", OSP_FACT_VERSION},
	[OSP_FACT_DRIVER] = {"driver", OSP_FACT_VERSION},
	[OSP_FACT_CUDA] = {"cuda", OSP_FACT_VERSION},
	[OSP_FACT_KERNEL] = {"kernel", OSP_FACT_VERSION},
	[OSP_FACT_GDRCOPY] = {"gdrcopy", OSP_FACT_VERSION},
	[OSP_FACT_SLURM] = {"slurm", OSP_FACT_VERSION},
	[OSP_FACT_INSTANCE] = {"instance", OSP_FACT_WORD},
	[OSP_FACT_PROVIDER] = {"provider", OSP_FACT_WORD},
	[OSP_FACT_VENDOR] = {"vendor", OSP_FACT_WORD},
	[OSP_FACT_ACCELERATOR] = {"accelerator", OSP_FACT_WORD},
	[OSP_FACT_FABRIC] = {"fabric", OSP_FACT_WORD},
	[OSP_FACT_RDMA_READ] = {"rdma_read", OSP_FACT_FLAG},
	[OSP_FACT_NVLINK] = {"nvlink", OSP_FACT_NUMBER},
	[OSP_FACT_NVSWITCH] = {"nvswitch", OSP_FACT_FLAG},
	[OSP_FACT_OPEN_DRIVER] = {"open_driver", OSP_FACT_FLAG},
	[OSP_FACT_INTERFACES] = {"interfaces", OSP_FACT_NUMBER},
	[OSP_FACT_DEFAULT_INTERFACE] = {"default_interface", OSP_FACT_WORD},
	[OSP_FACT_GPU_HCAS] = {"gpu_hcas", OSP_FACT_WORD},
	[OSP_FACT_OFI_TUNER] = {"ofi_tuner", OSP_FACT_WORD},
	[OSP_FACT_EFA_LIBRARIES] = {"efa_libraries", OSP_FACT_WORD},
	[OSP_FACT_MEMLOCK_UNLIMITED] = {"memlock_unlimited", OSP_FACT_FLAG},
	[OSP_FACT_STACK_UNLIMITED] = {"stack_unlimited", OSP_FACT_FLAG},
	[OSP_FACT_NOFILE] = {"nofile", OSP_FACT_NUMBER},
	[OSP_FACT_SHM_GIB] = {"shm_gib", OSP_FACT_NUMBER},
	[OSP_FACT_REMOVE_IPC] = {"remove_ipc", OSP_FACT_FLAG},
	[OSP_FACT_NODES] = {"nodes", OSP_FACT_NUMBER},
	[OSP_FACT_CONTAINER] = {"container", OSP_FACT_FLAG},
	[OSP_FACT_BOUND] = {"bound", OSP_FACT_FLAG},
	[OSP_FACT_NEAR_NICS] = {"near_nics", OSP_FACT_WORD},
	[OSP_FACT_PARTIAL_NODE] = {"partial_node", OSP_FACT_FLAG},
	[OSP_FACT_GPUS_VISIBLE] = {"gpus_visible", OSP_FACT_NUMBER},
};

const char *osp_fact_name(enum osp_fact_id id)
{
	return table[id].name;
}

enum osp_fact_kind osp_fact_kind(enum osp_fact_id id)
{
	return table[id].kind;
}

int osp_fact_find(const char *name, enum osp_fact_id *id, struct osp_error *error)
{
	const char *names[OSP_FACT_COUNT], *nearest;

	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		names[i] = table[i].name;
		if (!strcmp(names[i], name)) {
			*id = (enum osp_fact_id)i;
			return 0;
		}
	}
	nearest = osp_nearest_word(name, names, OSP_FACT_COUNT);
	if (nearest)
		return osp_error_at(error, NULL, 0, 1, "unknown fact '%.40s'; did you mean %s?",
				    name, nearest);
	return osp_error_at(error, NULL, 0, 1, "unknown fact '%.40s'", name);
}

static int parse_flag(const char *text, bool *flag, struct osp_error *error)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcasecmp(text, words[i])) {
			*flag = i % 2;
			return 0;
		}
	}
	return osp_error_at(error, NULL, 0, 1, "yes or no is expected, not '%.40s'", text);
}

static int parse_number(const char *text, struct osp_version *version, struct osp_error *error)
{
	if (text[strspn(text, "0123456789")])
		return osp_error_at(error, NULL, 0, 1, "a whole number is expected, not '%.40s'",
				    text);
	return osp_version_parse(text, version, error);
}

static int check_word(enum osp_fact_id id, const char *word, struct osp_error *error)
{
	const char *const *words, *nearest;
	struct osp_text all = OSP_TEXT_INIT;
	size_t count = 0;

	words = osp_catalogue_words(table[id].name, &count);
	for (size_t i = 0; words && i < count; i++) {
		if (!strcmp(word, words[i]))
			words = NULL;
		else
			osp_text_printf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	if (words) {
		nearest = osp_nearest_word(word, words, count);
		osp_error_at(error, NULL, 0, 1, "one of %s is expected, not '%.40s'%s%s%s",
			     all.data ? all.data : "", word, nearest ? "; did you mean " : "",
			     nearest ? nearest : "", nearest ? "?" : "");
	}
	osp_text_free(&all);
	return words ? -1 : 0;
}

int osp_facts_set(struct osp_facts *facts, enum osp_fact_id id, const char *text,
		  struct osp_error *error)
{
	struct osp_fact fact = {.known = true};
	int rc = 0;

	if (!*text) {
		facts->facts[id] = (struct osp_fact){.known = false};
		return 0;
	}
	if (strlen(text) >= sizeof(fact.text))
		return osp_error_at(error, NULL, 0, 1, "%s: longer than %d bytes", table[id].name,
				    OSP_FACT_BYTES - 1);
	if (table[id].kind == OSP_FACT_VERSION)
		rc = osp_version_parse(text, &fact.version, error);
	else if (table[id].kind == OSP_FACT_NUMBER)
		rc = parse_number(text, &fact.version, error);
	else if (table[id].kind == OSP_FACT_FLAG)
		rc = parse_flag(text, &fact.flag, error);
	else
		rc = check_word(id, text, error);
	if (rc)
		return -1;
	strcpy(fact.text, text);
	facts->facts[id] = fact;
	return 0;
}

/* Sets one "name=value" of a list, which has `length` bytes. */
static int set_pair(struct osp_facts *facts, const char *pair, size_t length,
		    struct osp_error *error)
{
	char words[OSP_FACT_BYTES + 64];
	struct osp_error cause = {.text = ""};
	enum osp_fact_id id;
	char *value;
	int before;

	if (length >= sizeof(words))
		return osp_error_at(error, NULL, 0, 1, "longer than %zu bytes", sizeof(words) - 1);
	memcpy(words, pair, length);
	words[length] = '\0';
	value = strchr(words, '=');
	if (!value)
		return osp_error_at(error, NULL, 0, 1,
				    "NAME=VALUE, as nccl=2.21, is expected, not '%.40s'", words);
	*value++ = '\0';
	if (osp_fact_find(words, &id, &cause))
		return osp_error_at(error, NULL, 0, 1, "%s", cause.text);
	before = (int)(value - words);
	if (osp_facts_set(facts, id, value, &cause))
		return osp_error_at(error, NULL, 0, before + cause.column, "%s: %.400s",
				    table[id].name, cause.text);
	return 0;
}

int osp_facts_set_list(struct osp_facts *facts, const char *list, struct osp_error *error)
{
	struct osp_error cause = {.text = ""};
	const char *at = list;

	for (;;) {
		size_t length = strcspn(at, ",");

		if (set_pair(facts, at, length, &cause))
			return osp_error_at(error, NULL, 0, (int)(at - list) + cause.column, "%s",
					    cause.text);
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

static void take_word(struct osp_facts *facts, enum osp_fact_id id, const char *word)
{
	if (word)
		(void)osp_facts_set(facts, id, word, NULL);
}

void osp_facts_take_instance(struct osp_facts *facts, const struct osp_instance *instance)
{
	char number[24];

	take_word(facts, OSP_FACT_INSTANCE, instance->name);
	take_word(facts, OSP_FACT_PROVIDER, instance->provider);
	take_word(facts, OSP_FACT_VENDOR, instance->vendor);
	take_word(facts, OSP_FACT_ACCELERATOR, instance->accelerator);
	take_word(facts, OSP_FACT_FABRIC, instance->fabric);
	if (instance->rdma_read != OSP_UNKNOWN)
		take_word(facts, OSP_FACT_RDMA_READ, instance->rdma_read ? "yes" : "no");
	if (instance->nvlink >= 0) {
		snprintf(number, sizeof(number), "%" PRId64, instance->nvlink);
		take_word(facts, OSP_FACT_NVLINK, number);
	}
	if (instance->nvswitches >= 0)
		take_word(facts, OSP_FACT_NVSWITCH, instance->nvswitches ? "yes" : "no");
	osp_facts_take_accelerators(facts, instance->accelerators);
}

void osp_facts_take_accelerators(struct osp_facts *facts, int64_t accelerators)
{
	if (accelerators > 0 && accelerators < INT_MAX)
		facts->accelerators = (int)accelerators;
}
