/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_spares.c - what users say of spares, segments and several domains
 *
 * Lines: --gang-spares, --gang-segment, how many nodes, --gang-domains, --gang-keep.
 *
 * Parser: lib/policy/spares.c lib/policy/request_parts.c
 */
#include "lib/policy/request_parts.h"
#include "lib/policy/spares.h"
#include "tests/fuzz/fuzz.h"

static size_t pieces_of(const char *list)
{
	size_t count = 1;

	for (; *list; list++)
		count += *list == ',';
	return count;
}

/* Each segment has its spares, and is as many times the smallest as before. */
static void grow(const char *segments, uint32_t count, uint32_t nodes)
{
	char grown[OSP_SEGMENTS_BYTES] = "", again[OSP_SEGMENTS_BYTES];
	struct osp_error error = {.text = ""};
	uint32_t spares = 0, none = 1;

	if (osp_spares_grow(segments, count, nodes, grown, &spares, &error)) {
		fuzz_check(error.text[0] && !spares);
		return;
	}
	fuzz_check(strlen(grown) < sizeof(grown) && pieces_of(grown) == pieces_of(segments));
	fuzz_check(spares <= OSP_SPARES_MAX && (!count || spares % count == 0));
	fuzz_check(!nodes || !count || spares >= count);
	/* what has grown can be read again, and grows by nothing to itself */
	if (!osp_spares_grow(grown, 0, nodes, again, &none, NULL))
		fuzz_check(!none && pieces_of(again) == pieces_of(grown));
}

static void check_spares(const char *value, const char *segments, uint32_t nodes)
{
	struct osp_spares spares = {.count = 0};

	if (osp_spares_parse(value, &spares)) {
		fuzz_check(!spares.count && !spares.per_segment);
		return;
	}
	fuzz_check(spares.count <= OSP_SPARES_MAX && (spares.count || !spares.per_segment));
	if (segments)
		grow(segments, spares.count, nodes);
}

/* What is taken is written and taken again as the same. */
static void check_parts(const struct osp_parts_asked *asked)
{
	struct osp_request request = {.relax_s = -1}, again = request;
	struct osp_error error = {.text = ""};
	char text[OSP_REQUEST_BYTES], same[OSP_REQUEST_BYTES];

	if (osp_request_add_parts(&request, asked, &error)) {
		fuzz_check(error.text[0]);
		return;
	}
	osp_request_format_parts(&request, text, sizeof(text));
	if (osp_request_parse_parts(text, &again, &error))
		return; /* two options may be right, and not together */
	osp_request_format_parts(&again, same, sizeof(same));
	fuzz_check(!strcmp(text, same));
	fuzz_check(request.domains_max == again.domains_max);
	fuzz_check(!strcmp(request.segments, again.segments));
}

FUZZER(spares)
{
	char *text = malloc(size + 1), *rest = text, *spares, *segments, *nodes, *domains, *keep;
	struct osp_parts_asked asked;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	spares = strsep(&rest, "\n");
	segments = strsep(&rest, "\n");
	nodes = strsep(&rest, "\n");
	domains = strsep(&rest, "\n");
	keep = strsep(&rest, "\n");
	check_spares(spares, segments, nodes ? (uint32_t)strtoul(nodes, NULL, 10) % 65536 : 1);
	asked = (struct osp_parts_asked){
		.domains = domains, .segments = segments, .layout = keep, .keep = NULL};
	check_parts(&asked);
	asked.keep = spares;
	check_parts(&asked);
	free(text);
	return 0;
}
