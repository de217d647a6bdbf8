/* SPDX-License-Identifier: Apache-2.0 */
/* Linked beside symbol_fixture.c and thrown away: its line table stays behind, at address 0. Long enough to
 * reach into the live code when that lies low. */
extern volatile int fixture_data;

int dead_library(int x);
int dead_library(int x)
{
    fixture_data = x;
    fixture_data *= 3;
    fixture_data ^= 0x1234567;
    fixture_data += 4;
    fixture_data *= 5;
    fixture_data ^= 0x7654321;
    fixture_data += 6;
    fixture_data *= 7;
    fixture_data ^= 0x1122334;
    fixture_data += 8;
    fixture_data *= 9;
    fixture_data ^= 0x4433221;
    fixture_data += 10;
    fixture_data *= 11;
    fixture_data ^= 0x5566778;
    fixture_data += 12;
    return fixture_data;
}
