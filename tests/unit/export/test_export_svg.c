/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs as text: every sample is in the counts, what was lost is in the picture, names are nothing but
 * text. What a browser makes of them is tested among the peers. */
#include "export_testing.h"

#include "export/export_profile.h"
#include "export/export_svg_tree.h"

enum { ROOM = 16 << 20 };

/* The whole file; to be freed. */
static char *draw(const struct export_profile *profile)
{
    char folder[32];
    char path[64];
    struct diag d = DIAG_INIT;
    char *text = calloc(1, ROOM);
    assert_non_null(text);
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/f.svg", folder);
    assert_int_equal(export_svg(profile, path, &d), CORRAL_OK);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fread(text, 1, ROOM - 1, f) < ROOM - 1);
    fclose(f);
    remove_folder(folder, path);
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in the file", part);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in the file", part);
}

/* Not by strstr, which looks at the whole file each time when a sanitizer watches it. */
static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    size_t length = strlen(part);
    for (const char *at = text; *at; at++)
        n += *at == *part && strncmp(at, part, length) == 0;
    return n;
}

static const struct export_frame frames[] = {{.name = "main", .file = "m.c", .line = 3},
                                             {.name = "f", .file = "f.c", .line = 5},
                                             {.name = "i", .file = "f.h", .line = 7, .inlined = true}};
static const struct export_frame again[] = {{.name = "main", .file = "m.c", .line = 9},
                                            {.name = "f", .file = "f.c", .line = 4}};

static void frames_have_places_and_words(void **state)
{
    (void)state;
    const struct export_stack stacks[] = {{frames, 3, 3000}, {again, 2, 1000, 100, 900}, {frames, 1, 0}};
    const struct export_track tracks[] = {{"core0", stacks, 3, 0, 250}, {"core1", NULL, 0, 2, 0}};
    const struct export_profile p = {.title = "t",
                                     .tracks = tracks,
                                     .count = 2,
                                     .start_ns = 1000000000,
                                     .seconds = 2.5,
                                     .note = "A note."};
    char *text = draw(&p);
    has(text, "<text class=\"muted\" x=\"10\" y=\"45\">4,000 samples on 2 tracks in 2.5 s, begun 1970-01-01 "
              "00:00:01 UTC</text>");
    has(text, ">A note. 2 packets lost, whose samples are missing here: core1 2.</text>");
    has(text, "data-x=\"0\" data-w=\"1\" data-n=\"4000\"><title>core0\n4,000 samples at 250 Hz\nwaiting for "
              "instructions: 100 samples, for data: 900 samples</title>");
    has(text, "data-p=\"0\"><title>main\nm.c:3-9\n4,000 samples, 100.00 % of core0\nitself: 0 samples\n");
    has(text, "data-p=\"1\"><title>f\nf.c:4-5\n4,000 samples, 100.00 % of core0\nitself: 1,000 samples\n");
    has(text,
        "width=\"75.00000%\" height=\"19\" data-x=\"0\" data-w=\"0.75\" data-p=\"2\"><title>i\nf.h:7\n3,000 "
        "samples, 75.00 % of core0\nitself: 3,000 samples\ninlined</title>");
    has(text, "class=\"f r l\"");
    has(text, "core1  \xC2\xB7  no samples  \xC2\xB7  2 packets lost</text>");
    assert_int_equal(times(text, "<svg class=\"f "), 5);
    free(text);
}

static void nothing_is_a_picture(void **state)
{
    (void)state;
    const struct export_profile empty = {.title = NULL};
    char *text = draw(&empty);
    has(text, "<title>corral</title>");
    has(text, "0 samples on 0 tracks<");
    assert_int_equal(times(text, "<svg class=\"f "), 0);
    has_not(text, "id=\"note\"");
    free(text);
}

/* Nothing of it may end a text, an attribute, the script or the style. */
static void names_are_text(void **state)
{
    (void)state;
    const struct export_frame nasty[] = {
        {.name = "</title></svg><script>x</script>", .file = "\" onload=\"x"},
        {.name = "]]><!--&lt;&#0;"},
        {.name = "\x01\x7F\x80\n\xEF\xBF\xBF\xEF\xBF\xBE"}};
    const struct export_stack stack = {nasty, 3, 1};
    const struct export_track track = {"]]></script>", &stack, 1, 1, 0};
    const struct export_profile p = {
        .title = "<script>", .tracks = &track, .count = 1, .note = "</style><script>"};
    char *text = draw(&p);
    assert_int_equal(times(text, "<script"), 1);
    assert_int_equal(times(text, "</script"), 1);
    assert_int_equal(times(text, "]]>"), 1);
    assert_int_equal(times(text, "</style>"), 1);
    assert_int_equal(times(text, "<!"), 1); /* the script's own CDATA */
    has_not(text, "\" onload");
    has(text, "&#60;/title&#62;&#60;/svg&#62;&#60;script&#62;x&#60;/script&#62;\n&#34; onload=&#34;x\n");
    has(text, "]]&#62;&#60;!--&#38;lt;&#38;#0;");
    has(text, "\\x01\\x7f\\x80\\n\\uffff\\ufffe");
    for (const char *c = text; *c; c++)
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    free(text);
}

/* The only addresses are the names of XML's vocabularies, which nobody fetches. */
static void no_network(void **state)
{
    (void)state;
    const struct export_profile empty = {.title = "t"};
    char *text = draw(&empty);
    assert_int_equal(times(text, "://"),
                     times(text, "http://www.w3.org/2000/svg") + times(text, "http://www.w3.org/1999/xhtml"));
    has_not(text, "@import");
    has_not(text, "url(");
    has_not(text, "href");
    free(text);
}

static void ten_thousand_functions_are_all_counted(void **state)
{
    (void)state;
    enum { MANY = 10000, LARGE = 3 };
    struct export_frame(*list)[2] = calloc(MANY, sizeof(*list));
    struct export_stack *stacks = calloc(MANY, sizeof(*stacks));
    char(*names)[16] = calloc(MANY, sizeof(*names));
    assert_true(list && stacks && names);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu_", i);
        list[i][0] = (struct export_frame){.name = "main"};
        list[i][1] = (struct export_frame){.name = names[i]};
        stacks[i] = (struct export_stack){list[i], 2, i < LARGE ? 1000000 : 2};
    }
    const struct export_track track = {"c", stacks, MANY, 0, 0};
    const struct export_profile p = {.title = "t", .tracks = &track, .count = 1};
    char *text = draw(&p);
    assert_int_equal(times(text, "<svg class=\"f "), 2 + LARGE + 1);
    has(text, "<title>9,997 functions too small to draw\n19,994 samples, 0.66 % of c</title>");
    for (size_t i = 0; i < MANY; i++)
        has(text, names[i]); /* so that a search finds it */
    has(text, "\n2 2 f9999_\n");
    free(text);
    free(list);
    free(stacks);
    free(names);
}

/* Names for a search are listed as far as a browser can bear; the script says what it could not search. */
static void the_list_of_small_functions_ends(void **state)
{
    (void)state;
    enum { MANY = 100003 };
    struct export_frame *list = calloc(MANY, sizeof(*list));
    struct export_stack *stacks = calloc(MANY, sizeof(*stacks));
    char(*names)[12] = calloc(MANY, sizeof(*names));
    assert_true(list && stacks && names);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu_", i);
        list[i].name = names[i];
        stacks[i] = (struct export_stack){&list[i], 1, i ? 1 : 10000000};
    }
    const struct export_track tracks[] = {{"c", stacks, MANY, 0, 0}, {"d", stacks, 3, 0, 0}};
    const struct export_profile p = {.title = "t", .tracks = tracks, .count = 2};
    char *text = draw(&p);
    has(text, "<title>100,002 functions too small to draw\n100,002 samples, 0.99 % of c</title>");
    has(text, "<title>2 functions too small to draw\n2 samples, 0.00 % of d</title>");
    assert_int_equal(times(text, "<metadata>"), 1);
    assert_int_equal(times(text, "\n1 1 f"), MANY - 1);
    free(text);
    free(list);
    free(stacks);
    free(names);
}

static void large_counts_stop_at_the_largest(void **state)
{
    (void)state;
    const struct export_stack stacks[] = {{frames, 1, UINT64_MAX}, {frames, 2, UINT64_MAX}};
    const struct export_track track = {"c", stacks, 2, 0, 1e300};
    const struct export_profile p = {.title = "t", .tracks = &track, .count = 1, .seconds = 1e300};
    char *text = draw(&p);
    has(text, "18,446,744,073,709,551,615 samples, 100.00 % of c");
    has(text, "18,446,744,073,709,551,615 samples, 50.00 % of c");
    has_not(text, "nan");
    has_not(text, "inf%");
    free(text);
}

/* Deep stacks end somewhere, and that is said. */
static void deep_stacks_are_cut(void **state)
{
    (void)state;
    enum { DEEP = 20000 };
    struct export_frame *deep = calloc(DEEP, sizeof(*deep));
    assert_non_null(deep);
    for (size_t i = 0; i < DEEP; i++)
        deep[i] = (struct export_frame){.name = i == EXPORT_SVG_MAX_DEPTH ? "too_deep" : "r"};
    const struct export_stack stack = {deep, DEEP, 5};
    const struct export_track track = {"c", &stack, 1, 0, 0};
    const struct export_profile p = {.title = "t", .tracks = &track, .count = 1};
    char *text = draw(&p);
    assert_int_equal(times(text, "<title>r\n5 samples, 100.00 % of c\nitself: 5 samples</title>"), 1);
    assert_int_equal(times(text, "<svg class=\"f "), 1 + EXPORT_SVG_MAX_DEPTH);
    has_not(text, "too_deep");
    has(text, ">Stacks deeper than 512 functions are drawn so far.</text>");
    free(text);
    free(deep);
}

/* A long note is several lines, whole words each; one without end is cut, and that shows. */
static void notes_are_wrapped(void **state)
{
    (void)state;
    char note[6000];
    for (size_t i = 0; i + 1 < sizeof(note); i++)
        note[i] = i % 8 == 7 ? ' ' : (char)('a' + i % 8);
    note[sizeof(note) - 1] = '\0';
    note[400] = '\0';
    struct export_profile p = {.title = "t", .note = note};
    char *text = draw(&p);
    size_t lines = times(text, ">abcdefg ");
    assert_int_equal(lines, 3);
    has_not(text, " ...<");
    free(text);
    note[400] = 'a';
    text = draw(&p);
    has(text, " ...</text>\n</g>");
    assert_int_equal(times(text, ">abcdefg "), 24);
    free(text);
    memset(note, 'x', 400); /* without a space */
    note[400] = '\0';
    text = draw(&p);
    has(text, "xxxxxxxxx</text>");
    free(text);
}

/* The widths of what is drawn below a node are its own, whatever was merged. */
static void trees_add_up(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct export_frame(*list)[3] = calloc(MANY, sizeof(*list));
    struct export_stack *stacks = calloc(MANY, sizeof(*stacks));
    char(*names)[8] = calloc(MANY, sizeof(*names));
    assert_true(list && stacks && names);
    uint64_t total = 0;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%zu", i);
        for (size_t k = 0; k < 3; k++)
            list[i][k] = (struct export_frame){.name = names[i % (k == 0 ? 7 : k == 1 ? 53 : MANY)]};
        stacks[i] = (struct export_stack){list[i], 1 + i % 3, i * i};
        total += i * i;
    }
    const struct export_track track = {"c", stacks, MANY, 0, 0};
    struct export_svg_tree tree;
    assert_true(export_svg_tree_make(&tree, &track, 0.001));
    assert_int_equal(tree.nodes[0].count, total);
    size_t merged = 0;
    for (size_t i = 0; i < tree.index.count; i++) {
        const struct export_svg_node *n = &tree.nodes[i];
        uint64_t below = n->self;
        double drawn = 0;
        bool any = false;
        for (size_t c = n->first_child; c != EXPORT_SVG_NONE; c = tree.nodes[c].next) {
            const struct export_svg_node *child = &tree.nodes[c];
            assert_int_equal(child->parent, i);
            assert_int_equal(child->depth, n->depth + 1);
            below += child->count;
            drawn += child->hidden ? 0 : child->width;
            any = any || !child->hidden;
            merged += child->merged > 1 && !child->hidden;
            if (!child->hidden)
                assert_true(child->x >= n->x - 1e-9 && child->x + child->width <= n->x + n->width + 1e-9);
        }
        assert_int_equal(below, n->count);
        if (any) {
            double want = (n->weight - (double)n->self) / (double)total;
            assert_true(drawn > want - 1e-9 && drawn < want + 1e-9);
        }
    }
    assert_true(merged > 1);
    export_svg_tree_free(&tree);
    free(list);
    free(stacks);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_places_and_words),
        cmocka_unit_test(nothing_is_a_picture),
        cmocka_unit_test(names_are_text),
        cmocka_unit_test(no_network),
        cmocka_unit_test(ten_thousand_functions_are_all_counted),
        cmocka_unit_test(the_list_of_small_functions_ends),
        cmocka_unit_test(large_counts_stop_at_the_largest),
        cmocka_unit_test(deep_stacks_are_cut),
        cmocka_unit_test(notes_are_wrapped),
        cmocka_unit_test(trees_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
