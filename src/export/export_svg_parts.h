/* SPDX-License-Identifier: Apache-2.0 */
/* The constant parts of the flame graph's file. Private to src/export. */
#ifndef CORRAL_EXPORT_EXPORT_SVG_PARTS_H
#define CORRAL_EXPORT_EXPORT_SVG_PARTS_H

extern const char export_svg_style[];
extern const char export_svg_script[];

#endif
