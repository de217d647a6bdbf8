/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the language: functions, predefined variables and predefined sequences (cross-trigger sheet
 * 4.6 to 4.8), and the four sequences and __options of the cross-trigger seed. Tables only.
 */
#include <string.h>
#include <strings.h>

#include "sequence/sequence_tree.h"

#define ANY_NUMBER 255
#define STRING(i)  (1u << (i))

static const struct sequence_function FUNCTIONS[] = {
    {"Sequence", FN_SEQUENCE, 0, 1, 1, STRING(0), false},
    {"Read8", FN_READ, 1, 1, 1, 0, true},
    {"Read16", FN_READ, 2, 1, 1, 0, true},
    {"Read32", FN_READ, 4, 1, 1, 0, true},
    {"Read64", FN_READ, 8, 1, 1, 0, true},
    {"Write8", FN_WRITE, 1, 2, 2, 0, false},
    {"Write16", FN_WRITE, 2, 2, 2, 0, false},
    {"Write32", FN_WRITE, 4, 2, 2, 0, false},
    {"Write64", FN_WRITE, 8, 2, 2, 0, false},
    {"ReadDP", FN_READ_DP, 4, 1, 1, 0, true},
    {"WriteDP", FN_WRITE_DP, 4, 2, 2, 0, false},
    {"ReadAP", FN_READ_AP, 4, 1, 1, 0, true},
    {"WriteAP", FN_WRITE_AP, 4, 2, 2, 0, false},
    {"ReadAccessAP", FN_READ_ACCESS_AP, 4, 1, 1, 0, true},
    {"WriteAccessAP", FN_WRITE_ACCESS_AP, 4, 2, 2, 0, false},
    {"DAP_Delay", FN_DELAY, 0, 1, 1, 0, false},
    {"DAP_WriteABORT", FN_WRITE_ABORT, 4, 1, 1, 0, false},
    {"DAP_SWJ_Pins", FN_PINS, 0, 3, 3, 0, true},
    {"DAP_SWJ_Clock", FN_CLOCK, 0, 1, 1, 0, false},
    {"DAP_SWJ_Sequence", FN_SWJ_SEQUENCE, 0, 2, 2, 0, false},
    {"DAP_JTAG_Sequence", FN_JTAG_SEQUENCE, 0, 3, 3, 0, true},
    {"Query", FN_QUERY, 0, 3, 3, STRING(1), false},
    {"QueryValue", FN_QUERY_VALUE, 0, 2, 2, STRING(0), false},
    {"Message", FN_MESSAGE, 0, 2, ANY_NUMBER, STRING(1), false},
    {"LoadDebugInfo", FN_LOAD_DEBUG_INFO, 0, 1, 1, STRING(0), false},
    {"FlashLoadAlgorithm", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"FlashWriteBuffer", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"FlashBufferWrite", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferSet", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferGet", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferSize", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferRead", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferWrite", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferStreamIn", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"BufferStreamOut", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"RunApplication", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"RunPythonScript", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
    {"FilePathExists", FN_EXTERNAL, 0, 0, ANY_NUMBER, 0, false},
};

const struct sequence_function *sequence_function_named(const char *name, size_t length, bool *exact)
{
    for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
        const char *known = FUNCTIONS[i].name;
        if (strncasecmp(known, name, length) != 0 || known[length] != '\0')
            continue;
        *exact = memcmp(known, name, length) == 0;
        return &FUNCTIONS[i];
    }
    return NULL;
}

static const struct {
    const char *name;
    bool writable;
} VARIABLES[VAR_COUNT] = {
    [VAR_DP] = {"__dp", true},
    [VAR_AP] = {"__ap", true},
    [VAR_APID] = {"__apid", true},
    [VAR_ERRORCONTROL] = {"__errorcontrol", true},
    [VAR_RESULT] = {"__Result", true},
    [VAR_CONNECTION] = {"__connection", false},
    [VAR_PROTOCOL] = {"__protocol", false},
    [VAR_TRACEOUT] = {"__traceout", false},
    [VAR_TRACECLOCKIN] = {"__traceclockin", false},
    [VAR_TRACECLOCKOUT] = {"__traceclockout", false},
    [VAR_FLASH_OP] = {"__FlashOp", false},
    [VAR_FLASH_ADDR] = {"__FlashAddr", false},
    [VAR_FLASH_LEN] = {"__FlashLen", false},
    [VAR_FLASH_ARG] = {"__FlashArg", false},
    [VAR_OPTIONS] = {"__options", false},
};

enum sequence_predefined sequence_predefined_named(const char *name, size_t length)
{
    unsigned i = 0;
    if (length < 2 || name[0] != '_' || name[1] != '_')
        return VAR_COUNT;
    while (i < VAR_COUNT &&
           (strlen(VARIABLES[i].name) != length || memcmp(VARIABLES[i].name, name, length) != 0))
        i++;
    return (enum sequence_predefined)i;
}

bool sequence_predefined_writable(enum sequence_predefined variable)
{
    return variable < VAR_COUNT && VARIABLES[variable].writable;
}

static const char *const SEQUENCES[] = {
    "DebugPortSetup",      "DebugPortStart",
    "DebugPortStop",       "DebugDeviceUnlock",
    "DebugCoreStart",      "DebugCoreStop",
    "DebugCodeMemRemap",   "ResetSystem",
    "ResetProcessor",      "ResetHardware",
    "ResetHardwareAssert", "ResetHardwareDeassert",
    "ResetCatchSet",       "ResetCatchClear",
    "TraceStart",          "TraceStop",
    "TraceCapture",        "TraceFlush",
    "FlashInit",           "FlashUninit",
    "FlashEraseSetup",     "FlashEraseSector",
    "FlashEraseChip",      "FlashEraseDone",
    "FlashProgramSetup",   "FlashProgramPage",
    "FlashProgramDone",    "RecoverySupportStart",
    "RecoverySupportStop", "RecoveryAcknowledge",
    "DebugCoreSetup",      "ProcessorStart",
    "ProcessorStop",       "ProcessorHaltAcknowledge",
};

const char *sequence_predefined_name(size_t i)
{
    return i < sizeof(SEQUENCES) / sizeof(SEQUENCES[0]) ? SEQUENCES[i] : NULL;
}

bool sequence_is_predefined(const char *name)
{
    for (size_t i = 0; i < sizeof(SEQUENCES) / sizeof(SEQUENCES[0]); i++)
        if (strcmp(SEQUENCES[i], name) == 0)
            return true;
    return false;
}
