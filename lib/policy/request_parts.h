/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_parts.h - segments, several domains and layouts, as a user asks for them
 *
 * A request holds --gang-domains=MAX, --gang-segment=LEVEL:N[,LEVEL:N...], --gang-layout=AXES and
 * --gang-keep=GROUP:LEVEL[,...] as words behind its level: "spine@30:00 domains=2 segment=leaf:16",
 * "spine layout=tp8,pp8,dp8 keep=pp:leaf"; and the level of --gang=LEVEL,prefer: "spine
 * prefer=leaf". lib/place/segments.h defines the first two, and lib/place/parts.h their meaning in
 * one fabric. lib/layout/layout_segments.h turns a layout into segments when the job is judged.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_REQUEST_PARTS_H
#define OSP_REQUEST_PARTS_H

#include "lib/policy/request.h"

/* Read the value of one option. Return 0, or -1 with a sentence that names the option (column: the
 * byte in `value`, from 1) and the output unchanged. The topology decides whether the levels
 * exist. */
int osp_request_take_domains(const char *value, uint32_t *domains_max, struct osp_error *error);
int osp_request_take_segments(const char *value, char segments[OSP_SEGMENTS_BYTES],
			      struct osp_error *error);
int osp_request_take_layout(const char *value, char layout[OSP_LAYOUT_TEXT_BYTES],
			    struct osp_error *error);
int osp_request_take_keep(const char *value, char keep[OSP_KEEP_BYTES], struct osp_error *error);

/* The values of the options beside --gang; NULL: not given. */
struct osp_parts_asked {
	const char *domains, *segments, *layout, *keep;
};

bool osp_parts_are_asked(const struct osp_parts_asked *asked);

/* Adds them to the request of --gang; any of them makes a gang of a request that is none. Returns
 * -1 for --gang=off, and for groups to keep without a layout. */
int osp_request_add_parts(struct osp_request *request, const struct osp_parts_asked *asked,
			  struct osp_error *error);

/* Parses the words behind a request's level: "domains=2 segment=leaf:16", each at most once. */
int osp_request_parse_parts(const char *text, struct osp_request *request, struct osp_error *error);
void osp_request_format_parts(const struct osp_request *request, char *buffer, size_t buffer_bytes);

/* Returns whether a gang is one in segments or in several domains. */
bool osp_in_parts(uint32_t domains_max, const char *segments);

#endif
