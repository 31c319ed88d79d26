/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_model.c - reads a model's shape and counts its weights */
#include "lib/layout/layout_traffic.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define KEY_BYTES   24
#define NUMBER_MOST 1e18

static const struct {
	const char *name;
	size_t offset;
} keys[] = {
	{"h", offsetof(struct osp_model, hidden)},
	{"l", offsetof(struct osp_model, layers)},
	{"s", offsetof(struct osp_model, sequence)},
	{"b", offsetof(struct osp_model, micro_batch)},
	{"M", offsetof(struct osp_model, micro_batches)},
	{"ffn", offsetof(struct osp_model, ffn)},
	{"swiglu", offsetof(struct osp_model, matrices)},
	{"heads", offsetof(struct osp_model, heads)},
	{"kv", offsetof(struct osp_model, kv_heads)},
	{"vocab", offsetof(struct osp_model, vocabulary)},
	{"experts", offsetof(struct osp_model, experts)},
	{"topk", offsetof(struct osp_model, top_k)},
	{"expert-ffn", offsetof(struct osp_model, expert_ffn)},
	{"nodes", offsetof(struct osp_model, node_limit)},
	{"P", offsetof(struct osp_model, parameters)},
	{"v", offsetof(struct osp_model, chunks)},
	{"w", offsetof(struct osp_model, weight_bytes)},
	{"g", offsetof(struct osp_model, gradient_bytes)},
	{"a", offsetof(struct osp_model, activation_bytes)},
	{"dispatch", offsetof(struct osp_model, dispatch_bytes)},
	{"tflops", offsetof(struct osp_model, gpu_tflops)},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static double *field(struct osp_model *model, size_t key)
{
	return (double *)((char *)model + keys[key].offset);
}

static int refuse_key(const char *key, int column, struct osp_error *error)
{
	const char *names[KEYS + 1], *nearest;

	for (size_t i = 0; i < KEYS; i++)
		names[i] = keys[i].name;
	names[KEYS] = "dp";
	nearest = osp_nearest_word(key, names, KEYS + 1);
	return osp_error_at(
		error, NULL, 0, column,
		"unknown key '%s'%s%s (h, l, s, b, M, ffn, swiglu, heads, kv, vocab, "
		"experts, topk, expert-ffn, nodes, P, v, w, g, a, dispatch, tflops, dp)",
		key, nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/*
 * Reads the whole of `text` as a decimal number without sign, "175e9" or "175G". Returns -1 if it
 * is none.
 */
static double parse_number(const char *text)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	char *end;
	double value;

	if (!isdigit((unsigned char)*text) || text[1] == 'x' || text[1] == 'X')
		return -1;
	value = strtod(text, &end);
	if (*end && (suffix = strchr(suffixes, *end))) {
		for (const char *at = suffixes; at <= suffix; at++)
			value *= 1000;
		end++;
	}
	return *end || !isfinite(value) || value <= 0 || value > NUMBER_MOST ? -1 : value;
}

static int parse_gradients(const char *value, int column, struct osp_model *model,
			   struct osp_error *error)
{
	static const char *const names[] = {"ddp", "zero1", "zero3", "fsdp"};
	const char *nearest = osp_nearest_word(value, names, 4);

	for (int i = 0; i < 4; i++) {
		if (!strcmp(value, names[i])) {
			model->gradients = (enum osp_gradients)(i < 3 ? i : OSP_GRADIENTS_ZERO3);
			return 0;
		}
	}
	return osp_error_at(error, NULL, 0, column, "dp=%s: ddp, zero1 or zero3%s%s", value,
			    nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* Reads a pair such as "h=12288"; changes `pair`. */
static int parse_pair(char *pair, int column, uint32_t *seen, struct osp_model *model,
		      struct osp_error *error)
{
	char *value = strchr(pair, '=');
	size_t key;
	double number;

	if (!value)
		return osp_error_at(error, NULL, 0, column, "'%s' has no value, as in h=12288",
				    pair);
	*value++ = '\0';
	for (key = 0; key < KEYS && strcmp(pair, keys[key].name) != 0; key++)
		;
	if (key == KEYS && strcmp(pair, "dp") != 0)
		return refuse_key(pair, column, error);
	if (*seen & 1u << key)
		return osp_error_at(error, NULL, 0, column, "'%s' is said twice", pair);
	*seen |= 1u << key;
	if (key == KEYS)
		return parse_gradients(value, column, model, error);
	number = parse_number(value);
	if (number < 0)
		return osp_error_at(error, NULL, 0, column,
				    "%s=%s: a number above 0, as in 12288, 175e9 or 175G", pair,
				    value);
	*field(model, key) = !strcmp(pair, "swiglu") ? 3 : number;
	return 0;
}

int osp_model_parse(const char *text, struct osp_model *model, struct osp_error *error)
{
	struct osp_model parsed = *model;
	size_t start = 0, length;
	char pair[2 * KEY_BYTES];
	uint32_t seen = 0;

	do {
		length = strcspn(text + start, ",");
		if (!length || length >= sizeof(pair))
			return osp_error_at(error, NULL, 0, (int)start + 1,
					    "a key and a number are expected, as in h=12288");
		memcpy(pair, text + start, length);
		pair[length] = '\0';
		for (size_t i = 0; i < length; i++) {
			unsigned char c = (unsigned char)pair[i];

			if (c <= ' ' || c > '~')
				return osp_error_byte(error, (int)(start + i) + 1, c, "in a model");
		}
		if (parse_pair(pair, (int)start + 1, &seen, &parsed, error))
			return -1;
		start += length + 1;
	} while (text[start - 1]);
	*model = parsed;
	return 0;
}

static void standard(double *value, double usual)
{
	if (*value <= 0)
		*value = usual;
}

int osp_model_complete(struct osp_model *model, struct osp_error *error)
{
	const char *missing = model->hidden <= 0     ? "h, the hidden size,"
			      : model->layers <= 0   ? "l, the number of layers,"
			      : model->sequence <= 0 ? "s, the tokens of a sequence,"
						     : NULL;

	if (missing)
		return osp_error_set(error, "%s is missing, as in h=12288,l=96,s=2048", missing);
	if (model->kv_heads > 0 && model->heads <= 0)
		return osp_error_set(error, "kv, the heads of keys, needs heads, those of queries, "
					    "beside it");
	standard(&model->micro_batch, 1);
	standard(&model->micro_batches, 1);
	standard(&model->ffn, 4 * model->hidden);
	standard(&model->matrices, 2);
	standard(&model->heads, 1);
	standard(&model->kv_heads, model->heads);
	standard(&model->top_k, 1);
	standard(&model->expert_ffn, model->ffn);
	standard(&model->chunks, 1);
	standard(&model->weight_bytes, 2);
	standard(&model->gradient_bytes, 2);
	standard(&model->activation_bytes, 2);
	standard(&model->dispatch_bytes, model->activation_bytes);
	return 0;
}

double osp_model_expert_parameters(const struct osp_model *model)
{
	return model->experts * model->layers * model->matrices * model->hidden * model->expert_ffn;
}

/* Counts attention, feed-forward layers, norms, and a vocabulary on both ends. */
double osp_model_parameters(const struct osp_model *model)
{
	double h = model->hidden, kv = h * model->kv_heads / model->heads;
	double feed_forward = model->experts > 0 ? 0 : model->matrices * h * model->ffn;

	if (model->parameters > 0)
		return model->parameters;
	return model->layers * (2 * h * h + 2 * h * kv + feed_forward + 2 * h) +
	       osp_model_expert_parameters(model) + 2 * model->vocabulary * h;
}

double osp_model_step_s(const struct osp_model *model, const struct osp_layout *layout)
{
	double active = osp_model_parameters(model), experts = osp_model_expert_parameters(model);
	double tokens = model->micro_batch * model->sequence * model->micro_batches *
			layout->size[OSP_AXIS_DP];

	if (model->gpu_tflops <= 0)
		return 0;
	if (model->experts > 0)
		active -= experts * (1 - model->top_k / model->experts);
	return 6 * active * tokens / (osp_layout_ranks(layout) * model->gpu_tflops * 1e12);
}
