/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a description is XML, by libxml2: characters, names, entities, attributes named twice. It makes no
 * tree. No network, no document type (pack_xml.c has refused it), UTF-8 whatever the file declares.
 */
#include <string.h>

#include "base/text.h"
#include "pack/pack_xml.h"

#ifdef CORRAL_HAVE_XML

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

struct check {
    const struct pack_file *file;
    struct diag *d;
    bool failed; /* *d is set */
};

#if LIBXML_VERSION >= 21200
typedef const xmlError *error_of_libxml;
#else
typedef xmlErrorPtr error_of_libxml;
#endif

/* libxml2's own words, instead of its printing them. The first complaint is the one that counts. */
static void on_error(void *ctx, error_of_libxml error)
{
    struct check *c = ctx;
    char words[96];
    const char *message = error && error->message ? error->message : "unreadable";
    /* A prefix that nobody declared, or a relative namespace, is no fault of the text. */
    if (c->failed || (error && (error->level < XML_ERR_ERROR || error->domain == XML_FROM_NAMESPACE)))
        return;
    text_escape((const uint8_t *)message, strcspn(message, "\r\n"), words, sizeof(words));
    pack_mistake(c->file, error && error->line > 0 ? (unsigned)error->line : 1, c->d, "this is not XML (%s)",
                 words);
    c->failed = true;
}

bool pack_xml_check(const struct pack_file *file, struct diag *d)
{
    struct check c = {.file = file, .d = d};
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser)
        return pack_no_memory(d);
    /* What it says of the input beside the parser would be printed: this thread's handler is ours meanwhile.
     */
    xmlStructuredErrorFunc before = xmlStructuredError;
    void *ctx_before = xmlStructuredErrorContext;
    xmlSetStructuredErrorFunc(&c, on_error);
    memset(parser->sax, 0, sizeof(*parser->sax));
    parser->sax->initialized = XML_SAX2_MAGIC;
    parser->sax->serror = on_error;
    parser->userData = &c;
    /* libxml2's own bounds are lifted: those of pack_xml.c are narrower, and say what is wrong. */
    xmlDocPtr doc = xmlCtxtReadMemory(parser, file->bytes, (int)file->size, NULL, "UTF-8",
                                      XML_PARSE_NONET | XML_PARSE_HUGE);
    bool well_formed = parser->wellFormed;
    if (doc)
        xmlFreeDoc(doc);
    if (parser->myDoc)
        xmlFreeDoc(parser->myDoc);
    parser->myDoc = NULL;
    xmlFreeParserCtxt(parser);
    xmlSetStructuredErrorFunc(ctx_before, before);
    if (!well_formed && !c.failed)
        pack_mistake(file, 1, d, "this is not XML");
    return well_formed && !c.failed;
}

#else

bool pack_xml_check(const struct pack_file *file, struct diag *d)
{
    diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s: this corral was built without libxml2 and reads no PDSC",
             file->name);
    return false;
}

#endif
