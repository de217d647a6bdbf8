/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON-lines sink: one object a line in order, files finished properly, errors reported (export_sinks.h).
 */
#include "export/export_sinks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static struct event marker(const char *text)
{
    struct event e = event_make(EVENT_MARKER, "user");
    e.marker.text = text;
    return e;
}

static void one_object_a_line_in_order(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct sink *sink = export_jsonl_stream(out);
    assert_non_null(sink);
    struct event a = marker("one\ntwo"), b = marker("three");
    sink_submit(sink, &a);
    sink_submit(sink, &b);
    assert_int_equal(sink_free(sink, NULL), CORRAL_OK);
    fclose(out); /* stayed the caller's */
    assert_string_equal(text, "{\"kind\":\"marker\",\"stream\":\"user\",\"text\":\"one\\ntwo\"}\n"
                              "{\"kind\":\"marker\",\"stream\":\"user\",\"text\":\"three\"}\n");
    free(text);
}

static void a_file_is_whole_after_the_close(void **state)
{
    (void)state;
    char path[] = "corral-jsonl-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct sink *sink = export_jsonl_open(path, NULL);
    assert_non_null(sink);
    for (int i = 0; i < 1000; i++) {
        struct event e = marker("line");
        sink_submit(sink, &e);
    }
    assert_int_equal(sink_free(sink, NULL), CORRAL_OK);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof(line), in)) {
        json_t *object = json_loads(line, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(object, "text")), "line");
        json_decref(object);
        lines++;
    }
    assert_int_equal(lines, 1000);
    fclose(in);
    unlink(path);
}

static void errors_name_the_file(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(export_jsonl_open("no-such-folder/x.jsonl", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "no-such-folder/x.jsonl"));
    if (access("/dev/full", W_OK))
        skip();
    struct sink *sink = export_jsonl_open("/dev/full", &d);
    assert_non_null(sink);
    struct event e = marker("lost");
    sink_submit(sink, &e);
    assert_int_equal(sink_free(sink, &d), CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "/dev/full"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_object_a_line_in_order),
        cmocka_unit_test(a_file_is_whole_after_the_close),
        cmocka_unit_test(errors_name_the_file),
    };
    return cmocka_run_group_tests_name("export_jsonl", tests, NULL, NULL);
}
