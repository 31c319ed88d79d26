/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expat_position.h - expat, and its two functions that return a position
 *
 * They have two widths from expat 2.9 on, which deprecates the first.
 */
#ifndef OSP_EXPAT_POSITION_H
#define OSP_EXPAT_POSITION_H

#include <stdint.h>

#include <expat.h>

#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define OSP_XML_LINE   XML_GetCurrentLineNumber64
#define OSP_XML_COLUMN XML_GetCurrentColumnNumber64
typedef uint64_t osp_xml_position;
#else
#define OSP_XML_LINE   XML_GetCurrentLineNumber
#define OSP_XML_COLUMN XML_GetCurrentColumnNumber
typedef XML_Size osp_xml_position;
#endif

#endif
