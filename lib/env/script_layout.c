/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_layout.c - finds the parallel flags of training frameworks in a job script */
#include "lib/env/script_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/env/script_shape.h"
#include "lib/env/shell_text.h"

#define NUMBER_MOST 1e15

enum target {
	TARGET_AXIS,  /* layout.size[which] */
	TARGET_SHARD, /* TorchTitan's dp_shard: -1 means the rest */
	TARGET_MODEL, /* a double of the model */
	TARGET_BATCH, /* global_batch */
	TARGET_ORDER, /* a switch: tp-pp-dp */
	TARGET_ZERO1, /* a switch: the distributed optimizer */
	TARGET_SWIGLU,
	TARGET_OLD, /* the framework itself refuses it */
};

struct flag {
	enum osp_framework framework;
	const char *name; /* as written, with '-' for '_' */
	enum target target;
	size_t which;
};

#define MODEL(field) TARGET_MODEL, offsetof(struct osp_model, field)
#define LM	     OSP_FRAMEWORK_MEGATRON
#define BRIDGE	     OSP_FRAMEWORK_BRIDGE
#define TITAN	     OSP_FRAMEWORK_TORCHTITAN

static const struct flag flags[] = {
	{LM, "--tensor-model-parallel-size", TARGET_AXIS, OSP_AXIS_TP},
	{LM, "--pipeline-model-parallel-size", TARGET_AXIS, OSP_AXIS_PP},
	{LM, "--context-parallel-size", TARGET_AXIS, OSP_AXIS_CP},
	{LM, "--expert-model-parallel-size", TARGET_AXIS, OSP_AXIS_EP},
	{LM, "--expert-tensor-parallel-size", TARGET_AXIS, OSP_AXIS_ETP},
	{LM, "--num-distributed-optimizer-instances", TARGET_AXIS, OSP_AXIS_REPLICA},
	{LM, "--use-tp-pp-dp-mapping", TARGET_ORDER, 0},
	{LM, "--use-distributed-optimizer", TARGET_ZERO1, 0},
	{LM, "--swiglu", TARGET_SWIGLU, 0},
	{LM, "--micro-batch-size", MODEL(micro_batch)},
	{LM, "--global-batch-size", TARGET_BATCH, 0},
	{LM, "--seq-length", MODEL(sequence)},
	{LM, "--hidden-size", MODEL(hidden)},
	{LM, "--num-layers", MODEL(layers)},
	{LM, "--ffn-hidden-size", MODEL(ffn)},
	{LM, "--num-attention-heads", MODEL(heads)},
	{LM, "--num-query-groups", MODEL(kv_heads)},
	{LM, "--vocab-size", MODEL(vocabulary)},
	{LM, "--num-experts", MODEL(experts)},
	{LM, "--moe-router-topk", MODEL(top_k)},
	{LM, "--moe-ffn-hidden-size", MODEL(expert_ffn)},
	{LM, "--model-parallel-size", TARGET_OLD, 0},
	{BRIDGE, "model.tensor-model-parallel-size", TARGET_AXIS, OSP_AXIS_TP},
	{BRIDGE, "model.pipeline-model-parallel-size", TARGET_AXIS, OSP_AXIS_PP},
	{BRIDGE, "model.context-parallel-size", TARGET_AXIS, OSP_AXIS_CP},
	{BRIDGE, "model.expert-model-parallel-size", TARGET_AXIS, OSP_AXIS_EP},
	{BRIDGE, "model.expert-tensor-parallel-size", TARGET_AXIS, OSP_AXIS_ETP},
	{BRIDGE, "model.virtual-pipeline-model-parallel-size", MODEL(chunks)},
	{BRIDGE, "dist.use-tp-pp-dp-mapping", TARGET_ORDER, 0},
	{BRIDGE, "model.seq-length", MODEL(sequence)},
	{BRIDGE, "model.hidden-size", MODEL(hidden)},
	{BRIDGE, "model.num-layers", MODEL(layers)},
	{BRIDGE, "model.encoder-seq-length", MODEL(sequence)},
	{BRIDGE, "model.ffn-hidden-size", MODEL(ffn)},
	{BRIDGE, "model.num-attention-heads", MODEL(heads)},
	{BRIDGE, "model.num-query-groups", MODEL(kv_heads)},
	{BRIDGE, "model.num-moe-experts", MODEL(experts)},
	{BRIDGE, "model.moe-router-topk", MODEL(top_k)},
	{BRIDGE, "model.moe-ffn-hidden-size", MODEL(expert_ffn)},
	{BRIDGE, "model.micro-batch-size", MODEL(micro_batch)},
	{BRIDGE, "model.global-batch-size", TARGET_BATCH, 0},
	{BRIDGE, "train.micro-batch-size", MODEL(micro_batch)},
	{BRIDGE, "train.global-batch-size", TARGET_BATCH, 0},
	{TITAN, "--parallelism.data-parallel-replicate-degree", TARGET_AXIS, OSP_AXIS_REPLICA},
	{TITAN, "--parallelism.data-parallel-shard-degree", TARGET_SHARD, 0},
	{TITAN, "--parallelism.tensor-parallel-degree", TARGET_AXIS, OSP_AXIS_TP},
	{TITAN, "--parallelism.pipeline-parallel-degree", TARGET_AXIS, OSP_AXIS_PP},
	{TITAN, "--parallelism.context-parallel-degree", TARGET_AXIS, OSP_AXIS_CP},
	{TITAN, "--parallelism.expert-parallel-degree", TARGET_AXIS, OSP_AXIS_EP},
	{TITAN, "--training.local-batch-size", MODEL(micro_batch)},
	{TITAN, "--training.seq-len", MODEL(sequence)},
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

/* The state while one script is read. */
struct finding {
	const char *file;
	const struct osp_script *script;
	struct osp_script_layout *found;
	struct osp_error *error;
	uint32_t shard; /* TorchTitan's dp_shard; 0: not given, or the rest */
	bool said;	/* the sizes are said elsewhere */
	bool inner;	/* reading a text within the script */
	int line;	/* the line where that text begins */
};

/* Returns whether the word is the flag: '-' and '_' are alike, and a '+' before overrides is
 * Hydra's. */
static bool is_flag(const char *word, const struct flag *flag)
{
	const char *name = flag->name;

	if (flag->framework == BRIDGE)
		word += strspn(word, "+");
	for (; *name; word++, name++) {
		if (*word != *name && !(*word == '_' && *name == '-'))
			return false;
	}
	return *word == '\0' || *word == '=';
}

/* --- values ----------------------------------------------------------------------------------- */

/*
 * Returns the value to which the script sets a variable, if there is only one; else NULL. One that
 * no program gets counts unless another comes after it, before `line`: the flag may be in a
 * variable that is made of it.
 */
static const char *only_setting(const struct osp_script *script, const char *name, size_t bytes,
				int line)
{
	const char *value = NULL;
	bool gone = false;

	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *one = osp_script_at(script, i);

		if (strncmp(one->name, name, bytes) != 0 || one->name[bytes])
			continue;
		if (gone && one->line <= line)
			value = NULL;
		if (one->unexpanded || (value && strcmp(value, one->value) != 0))
			return NULL;
		value = one->value;
		gone = one->gone;
	}
	return value;
}

/* Reads a whole number that is all of the text; -1 is allowed. Returns false if it is none. */
static bool whole_number(const char *text, size_t bytes, double *number)
{
	char copy[24], *end;

	if (bytes >= 2 && (*text == '"' || *text == '\'') && text[bytes - 1] == *text) {
		text++;
		bytes -= 2;
	}
	if (!bytes || bytes >= sizeof(copy))
		return false;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	if (copy[strspn(copy, "-0123456789")])
		return false;
	*number = strtod(copy, &end);
	return !*end && (*number == -1 || *number >= 1) && *number <= NUMBER_MOST;
}

/* Reads "$X", "${X}" or "${X:-8}" of a line, by the script's settings. */
static bool expanded_number(const struct osp_script *script, const char *text, int line,
			    double *number)
{
	bool braced = text[0] == '$' && text[1] == '{';
	const char *name = text + 1 + braced, *rest, *set;
	size_t bytes = 0;

	if (*text != '$')
		return false;
	while (isalnum((unsigned char)name[bytes]) || name[bytes] == '_')
		bytes++;
	rest = name + bytes;
	set = bytes ? only_setting(script, name, bytes, line) : NULL;
	if (set)
		return whole_number(set, strlen(set), number) &&
		       (braced ? strchr(rest, '}') != NULL && strchr(rest, '}')[1] == '\0'
			       : !*rest);
	if (!braced || !bytes)
		return false;
	rest += *rest == ':';
	if (*rest != '-' && *rest != '=')
		return false;
	bytes = strcspn(rest + 1, "}");
	return rest[1 + bytes] == '}' && !rest[2 + bytes] && whole_number(rest + 1, bytes, number);
}

static int line_of(const struct finding *finding, const struct osp_shell_word *word)
{
	return finding->inner ? finding->line : word->line;
}

static int refuse_value(const struct finding *finding, const struct osp_shell_word *word,
			const char *value)
{
	int line = line_of(finding, word);

	if (strchr(value, '$') || strchr(value, '`'))
		return osp_error_at(
			finding->error, finding->file, line, finding->inner ? 0 : word->column,
			"%.48s %.48s: the shell puts this value in, and the script does "
			"not tell one number; say --layout=tp..,pp..,dp.. instead",
			word->text, value);
	return osp_error_at(finding->error, finding->file, line, finding->inner ? 0 : word->column,
			    "%.48s '%.48s': a whole number from 1", word->text, value);
}

/* --- flags ------------------------------------------------------------------------------------ */

static bool is_switch(enum target target)
{
	return target == TARGET_ORDER || target == TARGET_ZERO1 || target == TARGET_SWIGLU ||
	       target == TARGET_OLD;
}

static int take_switch(struct finding *finding, const struct flag *flag,
		       const struct osp_shell_word *word)
{
	struct osp_script_layout *found = finding->found;
	const char *value = strchr(word->text, '=');

	if (value && (!strcasecmp(value + 1, "false") || !strcmp(value + 1, "0")))
		return 0;
	switch (flag->target) {
	case TARGET_ORDER:
		found->layout.order = OSP_ORDER_TP_PP_DP;
		return 0;
	case TARGET_ZERO1:
		found->model.gradients = OSP_GRADIENTS_ZERO1;
		return 0;
	case TARGET_OLD:
		return osp_error_at(finding->error, finding->file, line_of(finding, word),
				    finding->inner ? 0 : word->column,
				    "Megatron-LM refuses --model-parallel-size; type "
				    "--tensor-model-parallel-size");
	default:
		found->model.matrices = 3;
		return 0;
	}
}

/* Returns whether the flag alone identifies the framework: others have a --hidden-size too. */
static bool reports_framework(const struct flag *flag)
{
	return flag->target == TARGET_AXIS || flag->target == TARGET_SHARD ||
	       flag->target == TARGET_ORDER || flag->target == TARGET_OLD;
}

static int take_number(struct finding *finding, const struct flag *flag,
		       const struct osp_shell_word *word, const char *value, double number)
{
	struct osp_script_layout *found = finding->found;

	/* "-1" means what the checkpoint says */
	if (number < 0 && (finding->said || !reports_framework(flag)) &&
	    flag->target != TARGET_SHARD)
		return 0;
	if ((number < 0 && flag->target != TARGET_SHARD) ||
	    ((flag->target == TARGET_AXIS || flag->target == TARGET_SHARD) &&
	     number > OSP_RANKS_MAX))
		return refuse_value(finding, word, value);
	if (flag->target == TARGET_AXIS) {
		found->layout.size[flag->which] = (uint32_t)number;
	} else if (flag->target == TARGET_SHARD) {
		finding->shard = number < 0 ? 0 : (uint32_t)number;
	} else if (flag->target == TARGET_BATCH) {
		found->global_batch = number;
	} else {
		*(double *)((char *)&found->model + flag->which) = number;
	}
	return 0;
}

static int take_flag(struct finding *finding, const struct flag *flag,
		     const struct osp_shell_word *word, const struct osp_shell_word *next)
{
	const char *value = strchr(word->text, '=');
	double number = 0;

	if (reports_framework(flag) && !finding->found->framework) {
		finding->found->framework = flag->framework;
		finding->found->line = line_of(finding, word);
	}
	if (is_switch(flag->target))
		return take_switch(finding, flag, word);
	value = value ? value + 1 : next ? next->text : "";
	if (!whole_number(value, strlen(value), &number) &&
	    !expanded_number(finding->script, value, line_of(finding, word), &number))
		/* a model's shape only improves a figure; a layout was asked for */
		return reports_framework(flag) && !finding->said
			       ? refuse_value(finding, word, value)
			       : 0;
	return take_number(finding, flag, word, value, number);
}

static int take_words(void *context, const struct osp_shell_word *words, size_t count);

/* Reads options in a text of their own: A='--x 8', bash -c '...'. */
static int take_inner(struct finding *finding, const struct osp_shell_word *word, const char *text)
{
	struct osp_shell_reader reader = {
		.context = finding, .command = take_words, .variables = true};
	int rc;

	if (finding->inner || !strpbrk(text, " \t\n"))
		return 0;
	finding->inner = true;
	finding->line = word->line;
	rc = osp_shell_read(text, strlen(text), &reader);
	finding->inner = false;
	return rc;
}

static int take_words(void *context, const struct osp_shell_word *words, size_t count)
{
	struct finding *finding = context;

	for (size_t i = 0; i < count; i++) {
		const char *value = words[i].text;
		size_t name_bytes, flag;

		for (flag = 0; flag < FLAGS && !is_flag(value, &flags[flag]); flag++)
			;
		if (flag < FLAGS) {
			if (take_flag(finding, &flags[flag], &words[i],
				      i + 1 < count ? &words[i + 1] : NULL))
				return -1;
			continue;
		}
		if (osp_shell_is_assignment(value, &name_bytes))
			value = strchr(value, '=') + 1;
		if (take_inner(finding, &words[i], value))
			return -1;
	}
	return 0;
}

/* --- the job ---------------------------------------------------------------------------------- */

static uint32_t bounded(long number, long most)
{
	return number > 0 && number <= most ? (uint32_t)number : 0;
}

/* Reads "gpu:8", "gpu:h100:8" or "8". */
static long gpus_of_gres(const char *value)
{
	const char *last = strrchr(value, ':');
	double number;

	if (strchr(value, ',') || (last && strncmp(value, "gpu", 3) != 0))
		return 0;
	last = last ? last + 1 : value;
	return whole_number(last, strlen(last), &number) ? (long)number : 0;
}

static void take_job(const struct osp_script *script, struct osp_script_layout *found)
{
	static const char *const names[] = {"gpus-per-node", "gres"};
	const struct osp_script_options *options = osp_script_options(script);

	found->nodes = bounded((long)osp_script_nodes(script), OSP_NODES_MAX);
	for (size_t i = 0; i < 2 && !found->gpus_per_node; i++) {
		const struct osp_script_option *option = osp_sbatch_option(options, names[i]);

		if (option)
			found->gpus_per_node =
				bounded(gpus_of_gres(option->value), OSP_NODE_GPUS_MAX);
	}
	for (size_t i = 0; i < options->count && !found->gpus_per_node; i++) {
		const struct osp_script_option *option = &options->list[i];

		if (!strcmp(option->name, "nproc-per-node"))
			found->gpus_per_node =
				bounded(osp_option_number(option), OSP_NODE_GPUS_MAX);
	}
}

static void take_stated(const struct osp_script *script, const char *name,
			struct osp_stated *stated)
{
	stated->name = name;
	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *setting = osp_script_at(script, i);
		double number;

		if (strcmp(setting->name, name) != 0 || setting->unexpanded ||
		    !whole_number(setting->value, strlen(setting->value), &number) || number < 1 ||
		    number > OSP_RANKS_MAX)
			continue;
		stated->value = (uint32_t)number;
		stated->line = setting->line;
	}
}

/* Combines TorchTitan's shards and replicas into dp, and sets its order. */
static void take_titan(const struct finding *finding)
{
	struct osp_layout *layout = &finding->found->layout;
	uint64_t dp = finding->shard;

	layout->order = OSP_ORDER_TORCHTITAN;
	finding->found->model.gradients = OSP_GRADIENTS_ZERO3;
	if (layout->size[OSP_AXIS_REPLICA])
		dp *= layout->size[OSP_AXIS_REPLICA];
	layout->size[OSP_AXIS_DP] = dp <= OSP_RANKS_MAX ? (uint32_t)dp : OSP_RANKS_MAX;
}

static int read_all(const char *file, const char *text, size_t text_bytes, bool said,
		    struct osp_script_layout *found, struct osp_error *error)
{
	struct osp_script *script = osp_script_read(file, text, text_bytes, error);
	struct finding finding = {
		.file = file, .script = script, .found = found, .said = said, .error = error};
	struct osp_shell_reader reader = {
		.context = &finding, .command = take_words, .variables = true};
	int rc;

	memset(found, 0, sizeof(*found));
	if (!script)
		return -1;
	rc = osp_script_dos_line(script) ? osp_shell_read_dos(text, text_bytes, &reader)
					 : osp_shell_read(text, text_bytes, &reader);
	take_job(script, found);
	take_stated(script, "NVLINK_DOMAIN_SIZE", &found->domain_size);
	take_stated(script, "NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN", &found->domain_ranks);
	if (found->framework == OSP_FRAMEWORK_TORCHTITAN)
		take_titan(&finding);
	osp_script_free(script);
	if (rc)
		osp_error_at(error, file, 0, 0, "out of memory");
	return rc;
}

int osp_script_layout_read(const char *file, const char *text, size_t text_bytes,
			   struct osp_script_layout *found, struct osp_error *error)
{
	return read_all(file, text, text_bytes, false, found, error);
}

int osp_script_layout_read_beside(const char *file, const char *text, size_t text_bytes,
				  struct osp_script_layout *found, struct osp_error *error)
{
	return read_all(file, text, text_bytes, true, found, error);
}

void osp_script_layout_batches(struct osp_script_layout *found)
{
	double batch = found->model.micro_batch > 0 ? found->model.micro_batch : 1;

	if (found->global_batch > 0 && found->layout.size[OSP_AXIS_DP])
		found->model.micro_batches =
			found->global_batch / (batch * found->layout.size[OSP_AXIS_DP]);
}
