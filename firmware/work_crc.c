/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of the firmware: CRC-32 (IEEE 802.3) by table, CRC-16 (CCITT) bit by bit.
 */
#include "firmware/work.h"

WORK_APART void crc32_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (unsigned bit = 0; bit < 8; bit++)
            value = (value & 1u) ? 0xEDB88320u ^ (value >> 1) : value >> 1;
        table[i] = value;
    }
}

WORK_APART uint32_t crc32_update(const uint32_t table[256], uint32_t crc, const uint8_t *data, uint32_t n)
{
    crc = ~crc;
    for (uint32_t i = 0; i < n; i++)
        crc = table[(crc ^ data[i]) & 0xFFu] ^ (crc >> 8);
    return ~crc;
}

WORK_APART uint16_t crc16_update(uint16_t crc, const uint8_t *data, uint32_t n)
{
    uint32_t value = crc;
    for (uint32_t i = 0; i < n; i++) {
        value ^= (uint32_t)data[i] << 8;
        for (unsigned bit = 0; bit < 8; bit++) {
            value <<= 1;
            if (value & 0x10000u)
                value ^= 0x11021u;
        }
    }
    return (uint16_t)value;
}
