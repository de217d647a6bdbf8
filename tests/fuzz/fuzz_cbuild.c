/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the reader of cbuild-run.yml files: any bytes as a file. What is refused is told with its
 * line; what is taken keeps the promises of pack/pack.h, and the lines of its blocks stand where their marks
 * say.
 */
#include <string.h>

#include "fuzz_target.h"
#include "pack/pack_internal.h"
#include "sequence/sequence_store.h"

static void check_printable(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

/* ---- where texts stand */

/* Line ends that only YAML knows, and marks of byte order: a line is then not what it is for the set. */
static bool has_plain_lines(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == 0xC2 || c == 0xE2 || c == 0xEF || c == 0xFE || c == 0xFF)
            return false;
        if (c == '\r' && (i + 1 == size || bytes[i + 1] != '\n'))
            return false;
    }
    return true;
}

static void check_text(const struct sequence_set *set, const struct sequence_text *text, bool plain)
{
    FUZZ_CHECK(text->mark_count >= 1 && text->marks[0].offset == 0);
    for (size_t i = 0; i < text->size; i++)
        FUZZ_CHECK((unsigned char)text->bytes[i] >= 0x20 || text->bytes[i] == '\n' || text->bytes[i] == '\t');
    for (size_t i = 0; i < text->mark_count; i++) {
        const struct sequence_mark *mark = &text->marks[i];
        FUZZ_CHECK(mark->offset <= text->size && mark->line >= 1 && mark->column >= 1);
        FUZZ_CHECK(i == 0 || (mark->offset > mark[-1].offset && mark->line > mark[-1].line));
        if (text->mark_count < 2 || !plain || mark->offset >= text->size || text->bytes[mark->offset] == '\n')
            continue;
        const char *line;
        size_t size;
        FUZZ_CHECK(sequence_set_line(set, PACK_DESCRIPTION, mark->line, &line, &size));
        FUZZ_CHECK(mark->column <= size && line[mark->column - 1] == text->bytes[mark->offset]);
    }
}

/* The depth of a set's elements is bounded. */
static void check_elements(const struct sequence_set *set, const struct store_element *e, bool plain)
{
    for (; e; e = e->next) {
        if (e->kind == STORE_BLOCK)
            check_text(set, &e->text, plain);
        if (e->has_if)
            check_text(set, &e->if_, plain);
        if (e->has_while)
            check_text(set, &e->while_, plain);
        if (e->has_timeout)
            check_text(set, &e->timeout, plain);
        check_elements(set, e->first, plain);
    }
}

static void check_set(const struct sequence_set *set, bool plain)
{
    for (size_t i = 0; i < set->sequence_count; i++) {
        const struct store_sequence *s = &set->sequences[i];
        check_printable(s->name, sizeof(s->name));
        FUZZ_CHECK(s->name[0] && s->level == 5 && (!s->disabled || !s->first));
        check_elements(set, s->first, plain);
    }
    for (size_t i = 0; i < set->variables_count; i++)
        check_text(set, &set->variables[i].text, plain);
}

/* ---- a device */

static void check_ports(const struct pack_device *v)
{
    FUZZ_CHECK(v->port_count <= PACK_MAX_PORTS && v->ap_count <= PACK_MAX_APS);
    FUZZ_CHECK(v->patch_count <= PACK_MAX_PATCHES);
    for (size_t i = 0; i < v->ap_count; i++) {
        const struct pack_access_port *ap = &v->aps[i];
        FUZZ_CHECK(pack_access_port_of(v, ap->id) == ap);
        if (!ap->has_parent)
            continue;
        const struct pack_access_port *parent = pack_access_port_of(v, ap->parent);
        FUZZ_CHECK(ap->v2 && parent && parent < ap && parent->dp == ap->dp); /* so it is no circle */
    }
    for (size_t i = 0; i < v->patch_count; i++)
        FUZZ_CHECK(v->patches[i].by_id && pack_access_port_of(v, v->patches[i].ap));
}

static void check_device(const struct pack_device *v)
{
    FUZZ_CHECK(v->processor_count >= 1 && v->processor_count <= PACK_MAX_PROCESSORS);
    FUZZ_CHECK(v->output_count <= PACK_MAX_OUTPUTS && v->server_count <= PACK_MAX_SERVERS);
    check_printable(v->name, sizeof(v->name));
    check_printable(v->connect, sizeof(v->connect));
    check_printable(v->start_pname, sizeof(v->start_pname));
    FUZZ_CHECK(v->name[0] && (!v->start_pname[0] || pack_processor_named(v, v->start_pname)));
    check_ports(v);
    for (size_t i = 0; i < v->processor_count; i++) {
        const struct pack_processor *p = &v->processors[i];
        check_printable(p->pname, sizeof(p->pname));
        check_printable(p->core, sizeof(p->core));
        check_printable(p->reset_sequence, sizeof(p->reset_sequence));
        FUZZ_CHECK(p->units >= 1 && pack_processor_named(v, p->pname) == p);
        FUZZ_CHECK(!p->by_id || p->ap_said || pack_access_port_of(v, p->apid));
    }
    for (size_t i = 0; i < v->output_count; i++) {
        const struct pack_output *o = &v->outputs[i];
        FUZZ_CHECK(o->path && o->path[0]);
        check_printable(o->path, 2 * PACK_MAX_PATH);
        check_printable(o->type, sizeof(o->type));
        check_printable(o->pname, sizeof(o->pname));
    }
    for (size_t i = 0; i < v->server_count; i++) {
        check_printable(v->servers[i].pname, sizeof(v->servers[i].pname));
        FUZZ_CHECK(v->servers[i].port > 0 && v->servers[i].unit >= -1);
        for (size_t j = 0; j < i; j++)
            FUZZ_CHECK(v->servers[j].port != v->servers[i].port);
    }
}

static void check_problems(const struct sequence_problems *p)
{
    for (size_t i = 0; i < p->count; i++) {
        check_printable(p->list[i].text, sizeof(p->list[i].text));
        FUZZ_CHECK(p->list[i].width > 0);
    }
}

static void try_device(struct pack_file *file, struct sequence_problems *p, bool plain)
{
    struct diag d = DIAG_INIT;
    struct pack_device *device = pack_describe(file, NULL, p, &d);
    if (!device) { /* IO: it names a directory as its configuration */
        FUZZ_CHECK(d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_LIMIT || d.code == CORRAL_ERR_IO ||
                   d.code == CORRAL_ERR_NO_MEMORY);
        FUZZ_CHECK(d.code != CORRAL_ERR_FORMAT || strncmp(d.message, "dir/x.cbuild-run.yml:", 21) == 0);
        check_printable(d.message, sizeof(d.message));
        return;
    }
    check_device(device);
    check_set(device->set, plain);
    struct sequence_program *program = pack_compile(device, p, &d);
    FUZZ_CHECK(program || d.code != CORRAL_OK);
    sequence_program_free(program);
    pack_device_free(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    struct pack_places places = {.pack_root = "root"};
    struct pack_file *file =
        pack_parse(PACK_CBUILD_RUN, "dir/x.cbuild-run.yml", (const char *)data, size, &places, &p, &d);
    if (file) {
        FUZZ_CHECK(pack_device_count(file) == 1);
        try_device(file, &p, has_plain_lines((const char *)data, size));
    } else {
        FUZZ_CHECK(d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_LIMIT ||
                   d.code == CORRAL_ERR_NO_MEMORY);
        FUZZ_CHECK(d.code != CORRAL_ERR_FORMAT || strncmp(d.message, "dir/x.cbuild-run.yml:", 21) == 0);
        check_printable(d.message, sizeof(d.message));
    }
    check_problems(&p);
    sequence_problems_clear(&p);
    pack_close(file);
    return 0;
}
