/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the PDSC reader share. Private to src/pack/. */
#ifndef CORRAL_PACK_PACK_PDSC_INTERNAL_H
#define CORRAL_PACK_PACK_PDSC_INTERNAL_H

#include "pack/pack_xml.h"

/* A device being described: the elements that it inherits from, the uppermost first. */
struct pack_pdsc_reading {
    const struct pack_file *file;
    const struct pack_xml *x;
    struct pack_device *device;
    struct sequence_problems *problems;
    struct diag *d;
    struct {
        const struct pack_xml_node *node;
        unsigned level; /* of sequence_head */
    } chain[4];
    size_t chain_length;
    struct pack_xml_text value;                      /* of the attribute looked at last */
    struct pack_xml_text text, if_, while_, timeout; /* of a block, of a control */
};

/* The first child of that kind, and the one behind `node`; NULL = none. */
const struct pack_xml_node *pack_pdsc_first(const struct pack_pdsc_reading *r, const struct pack_xml_node *in,
                                            enum pack_xml_kind kind);
const struct pack_xml_node *pack_pdsc_next(const struct pack_pdsc_reading *r,
                                           const struct pack_xml_node *node);

/* ---- pack_pdsc_value.c: attributes. What is not there is left as it is. False with *d set. */

bool pack_pdsc_string(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                      char *out, size_t size);
/* Decimal, or hexadecimal with 0x. *there may be NULL; it is only ever set to true. */
bool pack_pdsc_number(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                      uint64_t most, uint64_t *value, bool *there);
bool pack_pdsc_number32(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                        uint32_t *value, bool *there);
/* 1, true, 0, false; what is neither is a warning, and left as it was. */
bool pack_pdsc_flag(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                    bool *value);
/* An attribute that must be there: false with *d set when it is not. */
bool pack_pdsc_needs(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *element,
                     const char *name);
/* Where the attribute's value stands, or else its element. */
struct sequence_place pack_pdsc_place(const struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                                      const char *name);

/* ---- pack_pdsc_ports.c: debugconfig, debugport, accessport; pack_pdsc_cores.c: processor, debug, datapatch;
 * pack_pdsc_sequences.c: debugvars, sequences */

bool pack_pdsc_take_ports(struct pack_pdsc_reading *r);
bool pack_pdsc_take_cores(struct pack_pdsc_reading *r);
bool pack_pdsc_take_sequences(struct pack_pdsc_reading *r);

#endif
