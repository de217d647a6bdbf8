/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic blocks: one batch, or nothing. Cross-trigger sheet 4.5, case C28 (at run time). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"
#include "sequence_rig.h"

static void test_c28_all_accesses_are_one_batch(void **state)
{
    (void)state;
    struct rig *r = rig_of("Write32(0x8, 1);\n@atomic\nDAP_SWJ_Sequence(51, 0 - 1);\nWriteDP(0x8, "
                           "0);\nDAP_Delay(5);\nWrite32(0x10, 2);\n"
                           "@block\nWrite32(0xC, 3);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 8 1\n{\nSWJ 51 7FFFFFFFFFFFF\nDP 8=0\nDELAY 5\nW32 10 2\n}\nW32 C 3\n");
    assert_int_equal(r->calls, 3);
    assert_int_equal(r->result.accesses, 6);
    assert_int_equal(r->result.statements, 6);
    rig_free(r);
}

static void test_c28_what_was_read_is_assigned_behind_it(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__var a = 0x10;\n__var x;\n__var y;\n"
               "@atomic\nx = Read32(a);\na += 4;\nWrite32(a, a);\ny = (Read8(a) & 0xF0) >> 4;\na = a + 4;\n"
               "@block\nWrite32(0x20, x);\nWrite32(0x24, y);\nWrite32(0x28, a);\n");
    rig_memory(r, 0x10, 0x1234);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "{\nR32 10\nW32 14 14\nR8 14\n}\nW32 20 1234\nW32 24 1\nW32 28 18\n");
    rig_free(r);
}

static void test_c28_each_round_is_a_batch_of_its_own(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var i = 0;\n@while i < 2\n@begin\n@atomic\n__var v = "
                           "Read32(0x10);\nWrite32(0x10, i);\ni += 1;\n@end\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "{\nR32 10\nW32 10 0\n}\n{\nR32 10\nW32 10 1\n}\n");
    rig_free(r);
}

static void test_c28_without_accesses_nothing_is_sent(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var x = 1;\n@atomic\nx += 1;\nx += 1;\n@block\nWrite32(0x10, x);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 3\n");
    assert_int_equal(r->result.statements, 4);
    rig_free(r);
}

static void test_c28_who_cannot_do_it_ends_the_sequence_with_nothing_sent(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "__errorcontrol = 1;\n@atomic\nWrite32(0x10, 1);\nWrite32(0x14, 1);\n@block\nWrite32(0x18, 1);\n");
    r->refuses_atomic = CORRAL_ERR_UNSUPPORTED;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_UNSUPPORTED);
    assert_string_equal(r->log, "");
    assert_int_equal(r->calls, 1);
    assert_string_equal(r->d.message, "Write32(0x10): this probe cannot do it in one batch");
    assert_string_equal(r->d.object, "test.pdsc:3:1 in T");
    assert_true(r->result.result == UINT64_MAX);
    rig_free(r);
}

static void test_c26_a_batch_that_fails_halfway_under_errorcontrol(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__var x;\n__var y;\n__var z;\n__errorcontrol = 1;\n"
               "@atomic\nx = Read32(0x10);\ny = Read32(0xBAD) + 1;\nz = Read32(0x10) + 2;\n"
               "@block\nWrite32(0x20, x);\nWrite32(0x24, y);\nWrite32(0x28, z);\nWrite64(0x30, __Result);\n");
    r->bad = 0xBAD;
    rig_memory(r, 0x10, 7);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log,
                        "{\nR32 10\nR32 BAD\nW32 20 7\nW32 24 1\nW32 28 2\nW64 30 FFFFFFFFFFFFFFFF\n");
    rig_free(r);
}

static void test_c27_a_batch_that_fails_halfway_names_the_access(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "@atomic\nWrite32(0x10, 1);\nWrite32(0xBAD, 1);\nWrite32(0x14, 1);\n@block\nWrite32(0x18, 1);\n");
    r->bad = 0xBAD;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LINK_FAULT);
    assert_string_equal(r->log, "{\nW32 10 1\nW32 BAD 1\n");
    assert_string_equal(r->d.object, "test.pdsc:3:1 in T");
    assert_string_equal(r->d.message, "Write32(0xbad): the target answered FAULT");
    rig_free(r);
}

static void test_c28_messages_are_said_once_and_behind_the_batch(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var x;\n@atomic\nMessage(0, \"%x\", 5);\nWrite32(0x10, 1);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "{\nW32 10 1\n}\nSAID 5\n");
    rig_free(r);
    r = rig_of("@atomic\nWrite32(0x10, 1);\nMessage(2, \"no\");\nWrite32(0x14, 1);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
    assert_string_equal(r->log, "{\nW32 10 1\n}\nSAID no\n");
    rig_free(r);
}

/* The checker refuses these; whatever gets past it must not send half a block. */
static void test_c28_an_access_on_what_the_block_reads_is_refused_before_anything_is_sent(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "__var x;\n@atomic\nWrite32(0x10, 1);\nx = Read32(0x14);\nWrite32(0x18, x);\n",
        "@atomic\nWrite32(0x10, 1);\nWrite32(0x18, Read32(0x14));\n",
        "@atomic\nWrite32(0x10, 1);\nRead32(Read32(0x14));\n",
        "@atomic\nWrite32(0x10, 1);\nRead32(0x14) && Write32(0x18, 1);\n",
        "@atomic\nWrite32(0x10, 1);\nRead32(0x14) ? Write32(0x18, 1) : 0;\n",
        "@atomic\nWrite32(0x10, 1);\n__ap = Read32(0x14);\nRead32(__ap);\n",
        "@atomic\nWrite32(0x10, 1);\nWrite32(0x14, __Result);\n",
        "__var y = 1;\n@atomic\nWrite32(0x10, 1);\nRead32(0x14) ? (y = 2) : 0;\nWrite32(0x18, y);\n",
        "@atomic\nWrite32(0x10, 1);\nSequence(\"DebugPortStop\");\n",
        "__var q;\n@atomic\nWrite32(0x10, 1);\nq = QueryValue(\"n\", 1);\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rig *r = rig_of_refused(texts[i]);
        assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
        assert_non_null(strstr(r->d.message, "atomic block"));
        assert_string_equal(r->log, "");
        rig_free(r);
    }
}

static void test_c28_an_unknown_value_may_choose_between_values(void **state)
{
    (void)state;
    struct rig *r = rig_of_refused("__var x;\n__var z = 8;\n@atomic\nx = Read32(0x10) ? z / Read32(0x10) : "
                                   "5;\n@block\nWrite32(0x14, x);\n");
    rig_memory(r, 0x10, 2);
    enum corral_err err = rig_run(r, "T");
    /* A read behind the `?` hangs on what is read before it. */
    assert_int_equal(err, CORRAL_ERR_SEQUENCE);
    assert_string_equal(r->log, "");
    rig_free(r);
    r = rig_of("__var x;\n__var z = 8;\n@atomic\nx = Read32(0x10) ? 3 : z;\nz = 8 / "
               "Read32(0x10);\n@block\nWrite32(0x14, x);\nWrite32(0x18, z);\n");
    rig_memory(r, 0x10, 2);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "{\nR32 10\nR32 10\n}\nW32 14 3\nW32 18 4\n");
    rig_free(r);
}

static void test_c28_too_many_for_one_batch(void **state)
{
    (void)state;
    static char text[128 * 1024] = "@atomic\n";
    for (unsigned i = 0; i < 4097; i++)
        memcpy(text + 8 + i * 17, "Write32(0x10, 1);", 18);
    struct rig *r = rig_of(text);
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LIMIT);
    assert_int_equal(r->calls, 0);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c28_all_accesses_are_one_batch),
        cmocka_unit_test(test_c28_what_was_read_is_assigned_behind_it),
        cmocka_unit_test(test_c28_each_round_is_a_batch_of_its_own),
        cmocka_unit_test(test_c28_without_accesses_nothing_is_sent),
        cmocka_unit_test(test_c28_who_cannot_do_it_ends_the_sequence_with_nothing_sent),
        cmocka_unit_test(test_c26_a_batch_that_fails_halfway_under_errorcontrol),
        cmocka_unit_test(test_c27_a_batch_that_fails_halfway_names_the_access),
        cmocka_unit_test(test_c28_messages_are_said_once_and_behind_the_batch),
        cmocka_unit_test(test_c28_an_access_on_what_the_block_reads_is_refused_before_anything_is_sent),
        cmocka_unit_test(test_c28_an_unknown_value_may_choose_between_values),
        cmocka_unit_test(test_c28_too_many_for_one_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
