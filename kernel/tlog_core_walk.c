// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record walk of the host tool, built into the module as it is: the driver
 * has none of its own. In a file here so that the object lands here.
 */
#include "tlog/tlog_decode.c"
