/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PDSC's elements, and where each of them and each character of their texts stands in the file. Private to
 * src/pack/.
 *
 * libxml2 says whether the file is XML; it knows lines but no columns, so what is where is found in the bytes
 * themselves. Only elements of a description of devices are kept; of all others nothing but their end is
 * looked for. No document type is taken, and so no entities but the five of XML.
 */
#ifndef CORRAL_PACK_PACK_XML_H
#define CORRAL_PACK_PACK_XML_H

#include "pack/pack_internal.h"

#define PACK_XML_MAX_DEPTH      64
#define PACK_XML_MAX_ELEMENTS   1000000
#define PACK_XML_MAX_ATTRIBUTES 64   /* of an element */
#define PACK_XML_MAX_NAMESPACES 64   /* of a file */
#define PACK_XML_MAX_NAMES      2000 /* different ones of elements and attributes */
#define PACK_XML_NONE           UINT32_MAX

enum pack_xml_kind {
    PACK_XML_PACKAGE,
    PACK_XML_DEVICES,
    PACK_XML_FAMILY,
    PACK_XML_SUBFAMILY,
    PACK_XML_DEVICE,
    PACK_XML_VARIANT,
    PACK_XML_PROCESSOR,
    PACK_XML_DEBUGCONFIG,
    PACK_XML_DEBUGPORT,
    PACK_XML_JTAG,
    PACK_XML_SWD,
    PACK_XML_ACCESSPORT_V1,
    PACK_XML_ACCESSPORT_V2,
    PACK_XML_DEBUG,
    PACK_XML_DATAPATCH,
    PACK_XML_DEBUGVARS,
    PACK_XML_SEQUENCES,
    PACK_XML_SEQUENCE,
    PACK_XML_BLOCK,
    PACK_XML_CONTROL,
    PACK_XML_KINDS
};

struct pack_xml_node {
    enum pack_xml_kind kind;
    uint32_t parent, first, last, next; /* numbers of nodes; PACK_XML_NONE = there is none */
    uint32_t at;                        /* of its '<' in the bytes */
    uint32_t attributes;                /* behind its name */
    uint32_t content, end;              /* between its tags; equal when it is empty */
};

/* Where a piece of some bytes begins. */
struct pack_xml_piece {
    unsigned line, column;
};

struct pack_xml {
    const char *bytes; /* the file's, which outlives this */
    size_t size;
    struct pack_xml_node *nodes; /* the first is `package` */
    size_t count, room;
    struct pack_xml_piece *pieces;
};

/* False with *d set. Both to be freed by pack_xml_free in any case. */
bool pack_xml_read(struct pack_xml *x, const struct pack_file *file, struct diag *d);
void pack_xml_free(struct pack_xml *x);

/* Columns count characters, not bytes. */
struct sequence_place pack_xml_place(const struct pack_xml *x, size_t at);
struct sequence_place pack_xml_place_of(const struct pack_xml *x, const struct pack_xml_node *node);

/* ---- pack_xml_text.c: what texts say */

/* A text without markup, with marks that say where its characters stand. Use it again and again; begin with
 * zeros, free with pack_xml_text_free. */
struct pack_xml_text {
    char *bytes; /* with a NUL behind */
    size_t size, room;
    struct sequence_mark *marks;
    size_t mark_count, mark_room;
};
void pack_xml_text_free(struct pack_xml_text *t);
struct sequence_text pack_xml_sequence_text(const struct pack_xml_text *t);

/* What stands between an element's tags, without comments, instructions and elements in it. False with *d
 * set when memory is out. */
bool pack_xml_content(const struct pack_xml *x, const struct pack_xml_node *node, struct pack_xml_text *t,
                      struct diag *d);
/* An attribute. *there false and an empty text where it is not there. With `marks`, as the content has them;
 * else without any. */
bool pack_xml_attribute(const struct pack_xml *x, const struct pack_xml_node *node, const char *name,
                        bool marks, struct pack_xml_text *t, bool *there, struct diag *d);
/* Where the attribute's value stands, behind its quote; false when it is not there. */
bool pack_xml_find(const struct pack_xml *x, const struct pack_xml_node *node, const char *name,
                   uint32_t *begin, uint32_t *end);

/* ---- pack_xml_check.c: libxml2 */

/* Is this XML? The scanner has bounded it already. */
bool pack_xml_check(const struct pack_file *file, struct diag *d);

#endif
