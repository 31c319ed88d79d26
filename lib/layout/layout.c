/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.c - reads a layout, sets missing sizes, and refuses sizes that do not divide */
#include "lib/layout/layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

static const char *const order_names[OSP_ORDER_COUNT] = {"megatron", "tp-pp-dp", "torchtitan",
							 "vllm", "deepspeed"};
static const char *const axis_names[OSP_AXIS_COUNT] = {"tp", "cp", "pp", "dp", "dpr", "ep", "etp"};

const char *osp_layout_order_name(enum osp_layout_order order)
{
	return order_names[order];
}

/* --- reading ---------------------------------------------------------------------------------- */

/* One word of the text: [start, start + length). */
struct word {
	const char *text; /* the whole text */
	size_t start;
	size_t length;
};

#define SHOWN_MAX 40

/* Returns how many bytes of the word an error shows. */
static int shown(const struct word *word)
{
	return word->length < SHOWN_MAX ? (int)word->length : SHOWN_MAX;
}

static int refuse(const struct word *word, struct osp_error *error, const char *why,
		  const char *nearest)
{
	return osp_error_at(error, NULL, 0, (int)word->start + 1, "'%.*s': %s%s%s", shown(word),
			    word->text + word->start, why, nearest ? "; did you mean " : "",
			    nearest ? nearest : "");
}

static int parse_order(const struct word *word, size_t name_bytes, struct osp_layout *layout,
		       struct osp_error *error)
{
	const char *value = word->text + word->start + name_bytes + 1;
	size_t length = word->length - name_bytes - 1;
	char copy[SHOWN_MAX + 1];

	snprintf(copy, sizeof(copy), "%.*s", (int)(length < SHOWN_MAX ? length : SHOWN_MAX), value);
	for (int order = 0; order < OSP_ORDER_COUNT; order++) {
		if (!strcasecmp(copy, order_names[order])) {
			layout->order = (enum osp_layout_order)order;
			return 0;
		}
	}
	return refuse(word, error, "an order is megatron, tp-pp-dp, torchtitan, vllm or deepspeed",
		      osp_nearest_word(copy, order_names, OSP_ORDER_COUNT));
}

/* Returns the axis whose name is the first `length` bytes, or -1. */
static int find_axis(const char *name, size_t length)
{
	for (int axis = 0; axis < OSP_AXIS_COUNT; axis++) {
		if (strlen(axis_names[axis]) == length &&
		    !strncasecmp(name, axis_names[axis], length))
			return axis;
	}
	return -1;
}

/* Reads digits up to the word's end; 0: none, or too large. */
static uint32_t parse_size(const struct word *word, size_t at)
{
	uint64_t size = 0;

	if (at >= word->length)
		return 0;
	for (; at < word->length; at++) {
		char c = word->text[word->start + at];

		if (!isdigit((unsigned char)c))
			return 0;
		size = size * 10 + (uint64_t)(c - '0');
		if (size > OSP_RANKS_MAX)
			return 0;
	}
	return (uint32_t)size;
}

static int refuse_axis(const struct word *word, size_t letters, struct osp_error *error)
{
	static const char *const words[] = {"tp", "cp",	 "pp",	  "dp", "dpr",
					    "ep", "etp", "order", NULL};
	char copy[SHOWN_MAX + 1];

	snprintf(copy, sizeof(copy), "%.*s", (int)(letters < SHOWN_MAX ? letters : SHOWN_MAX),
		 word->text + word->start);
	return refuse(word, error,
		      "an axis is tp, cp, pp, dp, dpr, ep or etp with its size, as in tp8",
		      letters ? osp_nearest_word(copy, words, 8) : NULL);
}

static int parse_word(const struct word *word, uint32_t *seen, struct osp_layout *layout,
		      struct osp_error *error)
{
	const char *text = word->text + word->start;
	size_t letters = 0;
	bool equals;
	int axis;

	while (letters < word->length && isalpha((unsigned char)text[letters]))
		letters++;
	equals = letters < word->length && text[letters] == '=';
	if (equals && letters == 5 && !strncasecmp(text, "order", 5))
		axis = OSP_AXIS_COUNT;
	else
		axis = find_axis(text, letters);
	if (axis < 0)
		return refuse_axis(word, letters, error);
	if (*seen & 1u << axis)
		return refuse(word, error, "said twice", NULL);
	*seen |= 1u << axis;
	if (axis == OSP_AXIS_COUNT)
		return parse_order(word, letters, layout, error);
	layout->size[axis] = parse_size(word, letters + equals);
	if (!layout->size[axis])
		return refuse(word, error, "a size is a whole number from 1, as in tp8", NULL);
	return 0;
}

int osp_layout_parse(const char *text, struct osp_layout *layout, struct osp_error *error)
{
	struct osp_layout parsed = {.order = OSP_ORDER_MEGATRON};
	struct word word = {.text = text};
	uint32_t seen = 0;

	do {
		word.length = strcspn(text + word.start, ",");
		if (!word.length)
			return osp_error_at(error, NULL, 0, (int)word.start + 1,
					    "an axis and its size are missing, as in tp8,pp8,dp8");
		for (size_t i = 0; i < word.length; i++) {
			unsigned char c = (unsigned char)text[word.start + i];

			if (c <= ' ' || c > '~')
				return osp_error_byte(error, (int)(word.start + i) + 1, c,
						      "in a layout");
		}
		if (parse_word(&word, &seen, &parsed, error))
			return -1;
		word.start += word.length + 1;
	} while (text[word.start - 1]);
	*layout = parsed;
	return 0;
}

/* Returns the size that etp has where nothing says it: frameworks that cut experts cut them as the
 * rest. */
static uint32_t unsaid_etp(const struct osp_layout *layout)
{
	bool sliced = layout->order != OSP_ORDER_TORCHTITAN && layout->order != OSP_ORDER_VLLM;

	return sliced && layout->size[OSP_AXIS_EP] > 1 && layout->size[OSP_AXIS_TP]
		       ? layout->size[OSP_AXIS_TP]
		       : 1;
}

const char *osp_layout_format(const struct osp_layout *layout, char *buffer, size_t buffer_bytes)
{
	size_t at = 0;

	buffer[0] = '\0';
	for (int axis = 0; axis < OSP_AXIS_COUNT && at < buffer_bytes; axis++) {
		uint32_t unsaid = axis == OSP_AXIS_ETP ? unsaid_etp(layout) : 1;

		if (layout->size[axis] && layout->size[axis] != unsaid)
			at += (size_t)snprintf(buffer + at, buffer_bytes - at, "%s%s%u",
					       at ? "," : "", axis_names[axis], layout->size[axis]);
	}
	if (!at)
		at += (size_t)snprintf(buffer, buffer_bytes, "dp1");
	if (layout->order != OSP_ORDER_MEGATRON && at < buffer_bytes)
		snprintf(buffer + at, buffer_bytes - at, ",order=%s", order_names[layout->order]);
	return buffer;
}

/* --- completing ------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void fill(struct osp_layout *layout)
{
	static const enum osp_layout_axis ones[] = {OSP_AXIS_TP, OSP_AXIS_CP, OSP_AXIS_PP,
						    OSP_AXIS_REPLICA, OSP_AXIS_EP};

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		if (!layout->size[ones[i]])
			layout->size[ones[i]] = 1;
	}
	if (!layout->size[OSP_AXIS_ETP])
		layout->size[OSP_AXIS_ETP] = unsaid_etp(layout);
}

/* Returns the ranks of one replica of the model. */
static uint64_t replica_ranks(const struct osp_layout *layout)
{
	return (uint64_t)layout->size[OSP_AXIS_TP] * layout->size[OSP_AXIS_CP] *
	       layout->size[OSP_AXIS_PP];
}

/* Returns the largest divisor of `whole` that is at most `limit`. Looks up to the root of `whole`:
 * slurmctld asks, of numbers that a user wrote. */
static uint64_t largest_divisor(uint64_t whole, uint64_t limit)
{
	uint64_t largest = 1;

	for (uint64_t at = 1; at * at <= whole; at++) {
		if (whole % at)
			continue;
		if (whole / at <= limit)
			return whole / at;
		if (at <= limit)
			largest = at;
	}
	return largest;
}

/* Refuses tp, or tp x cp, that neither divides a node nor fills whole nodes: no number of nodes
 * would do. Returns 0 if they do one of the two. */
static int refuse_across(const struct osp_layout *layout, uint32_t gpus_per_node,
			 struct osp_error *error)
{
	uint64_t tp = layout->size[OSP_AXIS_TP], cp = layout->size[OSP_AXIS_CP];
	uint64_t in_node = gpus_per_node / tp;

	if (tp % gpus_per_node && gpus_per_node % tp)
		return osp_error_set(
			error,
			"tp%llu ends after %llu GPUs, in the middle of a node of %u: "
			"its groups fall across nodes, however many there are; say "
			"tp%llu",
			(unsigned long long)tp, (unsigned long long)tp, gpus_per_node,
			(unsigned long long)(tp > gpus_per_node
						     ? tp / gpus_per_node * gpus_per_node
						     : largest_divisor(gpus_per_node, tp)));
	if (tp < gpus_per_node && cp % in_node && in_node % cp)
		return osp_error_set(
			error,
			"cp%llu ends after %llu GPUs, in the middle of a node of %u: "
			"its groups fall across nodes, however many there are; say "
			"cp%llu",
			(unsigned long long)cp, (unsigned long long)(tp * cp), gpus_per_node,
			(unsigned long long)(cp > in_node ? cp / in_node * in_node
							  : largest_divisor(in_node, cp)));
	return 0;
}

/* Refuses a number of nodes for which no dp fits the other axes, and says how many nodes fit. */
static int refuse_nodes(const struct osp_layout *layout, uint32_t nodes, uint32_t gpus_per_node,
			struct osp_error *error)
{
	uint64_t replica = replica_ranks(layout);
	uint64_t step = replica / common_divisor(replica, gpus_per_node);
	uint64_t below = nodes / step * step, use = below ? below : step;

	if (refuse_across(layout, gpus_per_node, error))
		return -1;
	return osp_error_set(
		error,
		"tp%u x cp%u x pp%u are %llu GPUs, of which %u nodes of %u GPUs hold no "
		"whole number; %llu nodes would be dp%llu",
		layout->size[OSP_AXIS_TP], layout->size[OSP_AXIS_CP], layout->size[OSP_AXIS_PP],
		(unsigned long long)replica, nodes, gpus_per_node, (unsigned long long)use,
		(unsigned long long)(use * gpus_per_node / replica));
}

static int fit_nodes(struct osp_layout *layout, uint32_t nodes, uint32_t gpus_per_node,
		     struct osp_error *error)
{
	uint64_t have = (uint64_t)nodes * gpus_per_node, replica = replica_ranks(layout);
	uint64_t product = replica * layout->size[OSP_AXIS_DP];
	char text[OSP_LAYOUT_TEXT_BYTES];

	/* ranks are 32 bits, and a user may ask for any number of nodes */
	if (have > OSP_RANKS_MAX)
		return osp_error_set(error, "%u nodes of %u GPUs have more than %u GPUs", nodes,
				     gpus_per_node, OSP_RANKS_MAX);
	if (!layout->size[OSP_AXIS_DP] && have % replica)
		return refuse_nodes(layout, nodes, gpus_per_node, error);
	if (!layout->size[OSP_AXIS_DP])
		layout->size[OSP_AXIS_DP] = (uint32_t)(have / replica);
	else if (product != have && have % replica)
		return refuse_nodes(layout, nodes, gpus_per_node, error);
	else if (product != have)
		return osp_error_set(
			error,
			"%s is %llu GPUs, but %u node%s of %u GPUs %s %llu; with dp%llu it fits",
			osp_layout_format(layout, text, sizeof(text)), (unsigned long long)product,
			nodes, osp_plural_s(nodes), gpus_per_node, nodes == 1 ? "has" : "have",
			(unsigned long long)have, (unsigned long long)(have / replica));
	return 0;
}

/* Checks that the layout, without a number of nodes, fills whole nodes. */
static int count_nodes(struct osp_layout *layout, uint32_t gpus_per_node, struct osp_error *error)
{
	uint64_t product = replica_ranks(layout);
	uint64_t step = gpus_per_node / common_divisor(product, gpus_per_node);

	if (!layout->size[OSP_AXIS_DP])
		return osp_error_set(error, "dp is missing: add dp and its size, or -N and the "
					    "number of nodes");
	product *= layout->size[OSP_AXIS_DP];
	if (product > OSP_RANKS_MAX)
		return osp_error_set(error, "the sizes multiply to more than %u GPUs",
				     OSP_RANKS_MAX);
	if (product % gpus_per_node)
		return osp_error_set(error,
				     "the sizes multiply to %llu GPUs, which are no whole nodes "
				     "of %u GPUs; a dp that %llu divides makes them whole, or say "
				     "--gpus-per-node",
				     (unsigned long long)product, gpus_per_node,
				     (unsigned long long)step);
	return 0;
}

/* Checks that the ranks over which one set of experts is cut divide into whole sets. */
static int check_experts(const struct osp_layout *layout, struct osp_error *error)
{
	const uint32_t *size = layout->size;
	uint64_t shards = (uint64_t)size[OSP_AXIS_TP] * size[OSP_AXIS_CP] * size[OSP_AXIS_DP];
	uint64_t block = (uint64_t)size[OSP_AXIS_EP] * size[OSP_AXIS_ETP];

	if (size[OSP_AXIS_EP] == 1)
		return 0;
	if (layout->order == OSP_ORDER_VLLM)
		return size[OSP_AXIS_EP] == shards
			       ? 0
			       : osp_error_set(error,
					       "vLLM spreads experts over all ranks of a pipeline "
					       "stage: ep%llu, not ep%u",
					       (unsigned long long)shards, size[OSP_AXIS_EP]);
	if (layout->order == OSP_ORDER_TORCHTITAN)
		shards /= size[OSP_AXIS_REPLICA];
	if (shards % block)
		return osp_error_set(error,
				     "ep%u with etp%u takes %llu GPUs, which do not divide the "
				     "%llu of a pipeline stage%s; ep%llu would",
				     size[OSP_AXIS_EP], size[OSP_AXIS_ETP],
				     (unsigned long long)block, (unsigned long long)shards,
				     layout->order == OSP_ORDER_TORCHTITAN ? " and replica" : "",
				     (unsigned long long)largest_divisor(
					     shards / size[OSP_AXIS_ETP], size[OSP_AXIS_EP]));
	/* Megatron's own condition: pipeline groups of experts and of the rest are the same. */
	if (layout->order == OSP_ORDER_TP_PP_DP && size[OSP_AXIS_PP] > 1 &&
	    block != (uint64_t)size[OSP_AXIS_TP] * size[OSP_AXIS_CP])
		return osp_error_set(
			error,
			"Megatron takes --use-tp-pp-dp-mapping with experts only where etp x ep = "
			"tp x cp (%llu, not %llu); leave order=tp-pp-dp out, and let the order of "
			"nodes keep pipelines together",
			(unsigned long long)size[OSP_AXIS_TP] * size[OSP_AXIS_CP],
			(unsigned long long)block);
	return 0;
}

static int check_axes(const struct osp_layout *layout, struct osp_error *error)
{
	const uint32_t *size = layout->size;

	if (size[OSP_AXIS_DP] % size[OSP_AXIS_REPLICA])
		return osp_error_set(error, "dpr%u does not divide dp%u; dpr%llu would",
				     size[OSP_AXIS_REPLICA], size[OSP_AXIS_DP],
				     (unsigned long long)largest_divisor(size[OSP_AXIS_DP],
									 size[OSP_AXIS_REPLICA]));
	if (layout->order == OSP_ORDER_DEEPSPEED && size[OSP_AXIS_CP] > 1)
		return osp_error_set(error,
				     "order=deepspeed has no cp: its sequence parallel ranks "
				     "are part of dp");
	if (layout->order == OSP_ORDER_TORCHTITAN && size[OSP_AXIS_ETP] > 1)
		return osp_error_set(error, "TorchTitan does not cut experts: leave etp%u out",
				     size[OSP_AXIS_ETP]);
	return check_experts(layout, error);
}

int osp_layout_complete(struct osp_layout *layout, uint32_t nodes, uint32_t gpus_per_node,
			struct osp_error *error)
{
	struct osp_layout filled = *layout;

	fill(&filled);
	if (replica_ranks(&filled) > OSP_RANKS_MAX)
		return osp_error_set(error, "the sizes multiply to more than %u GPUs",
				     OSP_RANKS_MAX);
	if (nodes ? fit_nodes(&filled, nodes, gpus_per_node, error)
		  : count_nodes(&filled, gpus_per_node, error))
		return -1;
	if (check_axes(&filled, error))
		return -1;
	*layout = filled;
	return 0;
}
