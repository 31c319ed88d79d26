/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svg.c - what every picture begins and ends with */
#include "tools/picture/svg.h"

void osp_svg_write(struct osp_text *text, const struct osp_text *title, const char *style,
		   int width, int height, const struct osp_text *body)
{
	osp_text_printf(text,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
			"viewBox=\"0 0 %d %d\">\n<title>",
			width, height, width, height);
	osp_text_add_escaped(text, title->data ? title->data : "");
	osp_text_printf(text, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#f4f6f9\"/>\n",
			style, width, height);
	if (body->data)
		osp_text_add_bytes(text, body->data, body->length_bytes);
	osp_text_add(text, "</svg>\n");
	if (body->failed || title->failed)
		text->failed = true;
}
