/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svg.h - what every picture begins and ends with
 *
 * Pure; any thread.
 */
#ifndef OSP_SVG_H
#define OSP_SVG_H

#include "lib/base/text.h"

/* Appends the whole file to `text`: sizes in pixels, `style` as "<style>...</style>", `body` what
 * is drawn. `text` fails where one of the others has. */
void osp_svg_write(struct osp_text *text, const struct osp_text *title, const char *style,
		   int width, int height, const struct osp_text *body);

#endif
