#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the ROM tables of parts as JSON, from the facts of the cross-trigger sheet 9 (and 1.3, 2.3 to 2.5).

What a sheet does not tell (how a vendor nests its tables, where the DWT is listed) is put together as such parts
usually have it: the addresses, parts, AP numbers and restart outputs are the sheet's. Run it in its folder; the
files are committed, so that the tests need no Python.
"""
import json

ARM, ARM_CHINA = 0x43B, 0xA75
AHB, APB, AHB5, AXI = 0x24770011, 0x44770002, 0x84770001, 0x44770004
MASK = 0xFFFFFFFF


def h(value):
    return f"0x{value:08X}"


class Space:
    """Words behind an AP (or of an ADIv6 root), and what is to be found there."""

    def __init__(self, part, ap, **fields):
        self.part, self.ap, self.fields, self.words, self.unreadable = part, ap, fields, {}, []
        part.spaces.append(self)

    def block(self, address, component_class, designer, part, archid=0, devtype=0, devid=0, listed=True):
        pidr = [part & 0xFF, (designer & 0xF) << 4 | part >> 8, 0x08 | (designer >> 4 & 7), 0]
        for i, value in enumerate(pidr):
            self.words[address + 0xFE0 + 4 * i] = value
        self.words[address + 0xFD0] = designer >> 8
        for i, value in enumerate((0x0D, component_class << 4, 0x05, 0xB1)):
            self.words[address + 0xFF0 + 4 * i] = value
        if archid:
            self.words[address + 0xFBC] = 0x47700000 | archid
        if component_class == 9:
            self.words[address + 0xFC8] = devid
            self.words[address + 0xFCC] = devtype
        if listed:
            self.part.components.append({"ap": self.ap, "address": h(address), "part": h(part), "designer": h(designer)})

    def table(self, address, entries, designer=ARM, part=0x4C4, class9=False):
        """Entries are addresses; None is one that is not present, a pair one in a power domain."""
        self.block(address, 9 if class9 else 1, designer, part, 0x0AF7 if class9 else 0, listed=False)
        self.part.rom_tables.append({"ap": self.ap, "address": h(address)})
        for i, entry in enumerate(entries):
            to, power = entry if isinstance(entry, tuple) else (entry, None)
            word = 2 if to is None else ((to - address) & 0xFFFFF000) | 3
            if power is not None:
                word |= 4 | power << 4
            self.words[address + 4 * i] = word

    def cti(self, address, part=0x906, archid=0, designer=ARM):
        self.block(address, 9, designer, part, archid, 0x14, 0x00040800)
        self.part.ctis.append({"ap": self.ap, "address": h(address)})

    def core_v7(self, cpuid, type_name, extra=()):
        """SCS, DWT, FPB and ITM of a v6-M or v7-M core."""
        v6 = cpuid >> 4 & 0xFFF == 0xC60
        self.block(0xE000E000, 0xE, ARM, 0x008 if v6 else 0x00C)
        self.block(0xE0001000, 0xE, ARM, 0x00A if v6 else 0x002)
        self.block(0xE0002000, 0xE, ARM, 0x00B if v6 else 0x003)
        self.words[0xE000ED00] = cpuid
        self.part.cores.append({"ap": self.ap, "type": type_name})
        return [0xE000E000, 0xE0001000, 0xE0002000, *extra]

    def core_v8(self, cpuid, type_name, extra=(), designer=ARM):
        part = cpuid >> 4 & 0xFFF
        for address, archid, devtype in ((0xE000E000, 0x2A04, 0), (0xE0001000, 0x1A02, 0), (0xE0002000, 0x1A03, 0),
                                         (0xE0000000, 0x1A01, 0x43)):
            self.block(address, 9, designer, part, archid, devtype)
        self.words[0xE000ED00] = cpuid
        self.part.cores.append({"ap": self.ap, "type": type_name})
        return [0xE000E000, 0xE0001000, 0xE0002000, 0xE0000000, *extra]

    def core_a(self, address, part, type_name, affinity):
        self.block(address, 9, ARM, part, 0x6A15 if part >> 8 == 0xD else 0, 0x15)
        self.words[address + 0xD00] = 0x41000000 | part << 4
        if affinity is not None:
            self.words[address + 0xFA8] = affinity
        self.part.cores.append({"ap": self.ap, "type": type_name})

    def mem_ap(self, address, idr, base, cfg=0):
        """An ADIv6 AP's registers in a root space, or a nested one's in memory (then it is a component, too)."""
        self.block(address, 9, ARM, 0x9E3, 0x0A17, listed=self.ap >= 0)
        self.words.update({address + 0xDFC: idr, address + 0xDF8: base, address + 0xDF4: cfg})

    def json(self):
        fields = {k: h(v) if k in ("idr", "base", "cfg", "address") else v for k, v in self.fields.items()}
        return {"ap": self.ap, **fields, "words": {h(a): h(v & MASK) for a, v in sorted(self.words.items())},
                "unreadable": [h(a) for a in self.unreadable]}


class Part:
    def __init__(self, device, source):
        self.device, self.source = device, source
        self.spaces, self.components, self.rom_tables, self.ctis, self.cores, self.core_cti = [], [], [], [], [], {}
        self.hints, self.hinted = None, None

    def write(self, name):
        expect = {"cores": self.cores, "ctis": self.ctis, "components": self.components, "rom_tables": self.rom_tables,
                  "core_cti": self.core_cti}
        out = {"device": self.device, "source": self.source, "aps": [s.json() for s in self.spaces], "expect": expect}
        if self.hints:
            out["hints"], out["hinted"] = self.hints, self.hinted
        with open(name + ".json", "w") as f:
            json.dump(out, f, indent=1)
            f.write("\n")


def root(part, base, aps):
    """An ADIv6 root: a class 9 table at `base` with these AP blocks (address, idr, base[, cfg])."""
    space = Space(part, -1, base=base)
    space.table(base, [ap[0] for ap in aps], part=0x193, class9=True)
    for address, idr, at, *cfg in aps:
        space.mem_ap(address, idr, at, cfg[0] if cfg else 0)
    return space


def rp2350():
    p = Part("RP2350: two M33 behind ADIv6 APs, a RISC-V AP beside them", "sheet 9; DEVARCH 47701A14 from pico-sdk")
    root(p, 0x00000000, [(0x2000, AHB5, 0xE00FF003), (0x4000, AHB5, 0xE00FF003), (0xA000, APB, 0x00000002)])
    for ap in (0x2000, 0x4000):
        s = Space(p, ap)
        s.table(0xE00FF000, s.core_v8(0x411FD210, "Cortex-M33", (0xE0042000,)), part=0x4C9)
        s.cti(0xE0042000, 0xD21, 0x1A14)
        p.core_cti[str(ap)] = h(0xE0042000)
    p.write("rp2350")


def stm32mp25():
    p = Part("STM32MP25x: CA35 on AP0, CM0+ on AP2, CM33 on AP8", "sheet 9 (OpenOCD's stm32mp25x.cfg)")
    a = Space(p, 0, idr=APB, base=0x80000003)
    a.table(0x80000000, [0x80090000, 0x800A0000, 0x80210000, 0x80220000, 0x80310000, 0x80320000], part=0x500)
    for address in (0x80090000, 0x800A0000):
        a.cti(address)
    for i, (core, cti) in enumerate(((0x80210000, 0x80220000), (0x80310000, 0x80320000))):
        a.core_a(core, 0xD04, "Cortex-A35", 0x80000000 | i)
        a.cti(cti, 0x9DA, 0x1A14)
        a.words[cti + 0xFA8] = 0x80000000 | i
    m0 = Space(p, 2, idr=AHB, base=0xF0000003)
    m0.table(0xF0008000, [0xE00FF000, 0xF0000000], part=0x501)
    m0.table(0xE00FF000, m0.core_v7(0x410CC601, "Cortex-M0+"), part=0x4C0)
    m0.cti(0xF0000000)
    m0.fields["base"] = 0xF0008003
    m33 = Space(p, 8, idr=AHB5, base=0xE00FF003)
    m33.table(0xE00FF000, m33.core_v8(0x410FD214, "Cortex-M33", (0xE0042000,)), part=0x4C9)
    m33.cti(0xE0042000, 0xD21, 0x1A14)
    # The M0+ has it outside the private peripheral bus (2.5: only data can say whose it is).
    p.core_cti = {"2": None, "8": h(0xE0042000)}
    p.hints = {"cores": [{"ap": 2, "cti": {"ap": 2, "address": h(0xF0000000)}}]}
    p.hinted = {"core_cti": {"2": h(0xF0000000), "8": h(0xE0042000)}, "restart": {"2": 7, "8": 1}}
    p.write("stm32mp25")


def psoc6():
    p = Part("PSoC 6: CM0+ on AP1 with its CTI at F0002000, CM4 on AP2", "sheets 2.5 and 9")
    system = Space(p, 0, idr=APB, base=0x80000003)
    system.table(0x80000000, [0x80090000], part=0x502)
    system.cti(0x80090000)
    m0 = Space(p, 1, idr=AHB, base=0xF0000003)
    m0.table(0xF0000000, [0xE00FF000, 0xF0002000], part=0x503, designer=0x034)
    m0.table(0xE00FF000, m0.core_v7(0x410CC601, "Cortex-M0+"), part=0x4C0)
    m0.cti(0xF0002000, 0x9A6, 0x1A14)
    m4 = Space(p, 2, idr=AHB, base=0xE00FF003)
    m4.table(0xE00FF000, m4.core_v7(0x410FC241, "Cortex-M4", (0xE0042000,)), part=0x4C4)
    m4.cti(0xE0042000)
    p.core_cti = {"1": None, "2": h(0xE0042000)}
    p.hints = {"aps": [0, 1, 2], "cores": [{"ap": 1, "cti": {"ap": 1, "address": h(0xF0002000)}}]}
    p.hinted = {"core_cti": {"1": h(0xF0002000), "2": h(0xE0042000)}, "restart": {"1": 7, "2": 7}}
    p.write("psoc6")


def cyt2bl3():
    p = Part("CYT2BL3 (TRAVEO): two CTIs of part 906 in the M4's private peripheral bus", "sheet 2.5")
    m0 = Space(p, 1, idr=AHB, base=0xE00FF003)
    m0.table(0xE00FF000, m0.core_v7(0x410CC601, "Cortex-M0+", (0xE0042000,)), part=0x4C0)
    m0.cti(0xE0042000, 0x9A6, 0x1A14)
    m4 = Space(p, 2, idr=AHB, base=0xE00FF003)
    m4.table(0xE00FF000, m4.core_v7(0x410FC241, "Cortex-M4", (0xE0042000, 0xE0043000)), part=0x4C4)
    m4.cti(0xE0042000)
    m4.cti(0xE0043000)
    p.core_cti = {"1": h(0xE0042000), "2": None}
    p.hints = {"cores": [{"ap": 2, "cti": {"ap": 2, "address": h(0xE0043000), "restart": 7}}]}
    p.hinted = {"core_cti": {"1": h(0xE0042000), "2": h(0xE0043000)}, "restart": {"1": 7, "2": 7}}
    p.write("cyt2bl3")


def alif_e7():
    p = Part("Alif Ensemble E7: ADIv6; M55s and the secure enclave's M0+ at AP bases, APSS behind another AP",
             "sheet 9; the nesting itself is made up (2.3)")
    root(p, 0x00000000, [(0x200000, AHB5, 0xE00FF003), (0x300000, AHB5, 0xE00FF003), (0x40000, AHB5, 0xF0000003),
                         (0x50000, APB, 0x02000003)])
    for ap in (0x200000, 0x300000):
        s = Space(p, ap)
        s.table(0xE00FF000, s.core_v8(0x410FD221, "Cortex-M55", (0xE0042000,)), part=0x4D2)
        s.cti(0xE0042000, 0xD22, 0x1A14)
        p.core_cti[str(ap)] = h(0xE0042000)
    se = Space(p, 0x40000)
    se.table(0xF0000000, [0xE00FF000, 0xF0001000], part=0x504, designer=0x123)
    se.table(0xE00FF000, se.core_v7(0x410CC601, "Cortex-M0+"), part=0x4C0)
    se.cti(0xF0001000)
    p.core_cti[str(0x40000)] = None
    # The APSS AP leads to a table with the A32s' own AP behind it.
    apss = Space(p, 0x50000)
    apss.table(0x02000000, [0x02008000], part=0x505)
    apss.mem_ap(0x02008000, APB, 0x02000003)
    nested = Space(p, 0x100, parent=0x50000, address=0x02008000, idr=APB, base=0x02000003)
    nested.table(0x02000000, [0x02010000, 0x02020000, 0x02110000, 0x02120000], part=0x506)
    for i in range(2):
        nested.core_a(0x02010000 + i * 0x100000, 0xD01, "Cortex-A32", 0x80000000 | i)
        nested.cti(0x02020000 + i * 0x100000, 0x9DB, 0x1A14)
        nested.words[0x02020000 + i * 0x100000 + 0xFA8] = 0x80000000 | i
    p.hints = {"aps": [{"ap": 0x100, "parent": 0x50000, "address": h(0x02008000)}],
               "cores": [{"ap": 0x40000, "cti": {"ap": 0x40000, "address": h(0xF0001000), "restart": 7}}]}
    p.hinted = {"core_cti": {**p.core_cti, str(0x40000): h(0xF0001000)}, "restart": {str(0x200000): 1, str(0x40000): 7}}
    p.write("alif_e7")


def imx7():
    p = Part("i.MX7: in the M4's private peripheral bus E0043000 is a funnel, E0044000 the CTI", "sheet 9, case B25")
    a = Space(p, 1, idr=APB, base=0x80070003)
    a.table(0x80070000, [0x80071000, 0x80078000, 0x80073000, 0x80079000, 0x80089000], part=0x507)
    for i in range(2):
        a.core_a(0x80071000 + i * 0x2000, 0xC07, "Cortex-A7", None)
        a.cti(0x80078000 + i * 0x1000)
    a.cti(0x80089000)
    m4 = Space(p, 4, idr=AHB, base=0xE00FF003)
    m4.table(0xE00FF000, m4.core_v7(0x410FC241, "Cortex-M4", (0xE0043000, 0xE0044000)), part=0x4C4)
    m4.block(0xE0043000, 9, ARM, 0x908, 0, 0x12)
    m4.cti(0xE0044000)
    p.core_cti = {"4": h(0xE0044000)}
    p.hints = {"aps": [1, 4], "cores": [{"ap": 4, "cti": {"ap": 4, "address": h(0xE0043000)}}]}
    p.hinted = {"core_cti": {"4": h(0xE0044000)}, "restart": {"4": 7}, "refused": "funnel"}
    p.write("imx7")


def ti_k3():
    p = Part("TI K3 (AM62x): APs 7 and 8 alone, CTIs outside the private peripheral bus", "sheet 9 (OpenOCD's ti/k3.cfg)")
    m3 = Space(p, 7, idr=AHB, base=0xE00FF003)
    m3.table(0xE00FF000, m3.core_v7(0x412FC231, "Cortex-M3"), part=0x4C3)
    m3.cti(0x3C016000)
    m4 = Space(p, 8, idr=AHB, base=0xE00FF003)
    m4.table(0xE00FF000, m4.core_v7(0x410FC241, "Cortex-M4"), part=0x4C4)
    m4.cti(0x20001000)
    # No table leads to them: only data does.
    p.ctis, p.components = [], [c for c in p.components if c["part"] != h(0x906)]
    p.core_cti = {"7": None, "8": None}
    p.hints = {"aps": [7, 8], "cores": [{"ap": 7, "cti": {"ap": 7, "address": h(0x3C016000)}},
                                        {"ap": 8, "cti": {"ap": 8, "address": h(0x20001000), "restart": 7}}]}
    p.hinted = {"core_cti": {"7": h(0x3C016000), "8": h(0x20001000)}, "restart": {"7": 7, "8": 7}}
    p.write("ti_k3")


def nrf5340():
    p = Part("nRF5340: BASE of the network core's AP has bit 0 clear and is a table all the same", "sheets 2.3 and 9")
    for ap, base in ((0, 0xE00FF003), (1, 0xE00FF002)):
        s = Space(p, ap, idr=AHB5, base=base)
        s.table(0xE00FF000, s.core_v8(0x410FD212, "Cortex-M33", (0xE0042000,)), part=0x4C9)
        s.cti(0xE0042000, 0xD21, 0x1A14)
        p.core_cti[str(ap)] = h(0xE0042000)
    for ap in (2, 3):
        Space(p, ap, idr=0x12880000, base=0)
    p.write("nrf5340")


def musca():
    p = Part("Musca-A: two M33 on AP1 and AP2, system CTIs on AP0, blocks in power domains of a GPR", "sheets 2.4 and 9")
    system = Space(p, 0, idr=APB, base=0xF0000003)
    system.table(0xF0000000, [0xF0002000, 0xF0082000], part=0x743)
    system.cti(0xF0002000)
    system.cti(0xF0082000)
    for ap in (1, 2):
        s = Space(p, ap, idr=AHB5, base=0xF0008003)
        s.table(0xF0008000, [(0xE00FF000, ap), 0xF0009000], part=0x744)
        s.block(0xF0009000, 9, ARM, 0x9A4, 0x0A34, 0x34, 8)
        s.table(0xE00FF000, s.core_v8(0x410FD213, "Cortex-M33", (0xE0042000,)), part=0x4C9)
        s.cti(0xE0042000, 0xD21, 0x1A14)
        p.core_cti[str(ap)] = h(0xE0042000)
    p.write("musca_a")


def stm32h745():
    p = Part("STM32H745: CM7 on AP0, CM4 on AP3, a system CTI on AP2", "sheet 9 (OpenOCD's stm32h7x.cfg)")
    for ap, base, part, cpuid, name in ((0, 0xE00FE003, 0x4C7, 0x411FC271, "Cortex-M7"),
                                        (3, 0xE00FF003, 0x4C4, 0x410FC241, "Cortex-M4")):
        s = Space(p, ap, idr=AHB5, base=base)
        s.table(base & ~0xFFF, s.core_v7(cpuid, name, (0xE0043000,)), part=part)
        s.cti(0xE0043000)
        p.core_cti[str(ap)] = h(0xE0043000)
    Space(p, 1, idr=AHB5, base=0x00000002)
    system = Space(p, 2, idr=APB, base=0xE00E0003)
    system.table(0xE00E0000, [0xE00F1000], part=0x450, designer=0x020)
    system.cti(0xE00F1000)
    p.spaces.sort(key=lambda s: s.ap)
    p.write("stm32h745")


def mcxn947():
    p = Part("MCXN947: two M33 on AP0 and AP1, the debug mailbox on AP2", "sheet 9 (the CTI at the M33's usual place)")
    for ap in (0, 1):
        s = Space(p, ap, idr=AHB5, base=0xE00FE003)
        s.table(0xE00FE000, [0xE00FF000], part=0x508, designer=0x015)
        s.table(0xE00FF000, s.core_v8(0x410FD214, "Cortex-M33", (0xE0042000,)), part=0x4C9)
        s.cti(0xE0042000, 0xD21, 0x1A14)
        p.core_cti[str(ap)] = h(0xE0042000)
    Space(p, 2, idr=0x002A0000, base=0)
    p.write("mcxn947")


def high():
    p = Part("an AXI-AP with large addresses: its table lies above 4 GiB, 64-bit entries", "sheets 2.3 and 2.4, case B12")
    s = Space(p, 0, idr=AXI, base=0x00010003, cfg=2)
    base = 0x4_00010000
    s.block(base, 9, ARM, 0x4A9, 0x0AF7, 0, 1, listed=False)
    p.rom_tables.append({"ap": 0, "address": h(base)})
    s.words.update({base: 0x00010003, base + 4: 0, base + 8: 0xFFFF0003, base + 12: 0xFFFFFFFF})
    s.block(base + 0x10000, 9, ARM, 0x961, 0, 0x21)
    s.block(base - 0x10000, 9, ARM, 0x908, 0, 0x12)
    s.fields["baseh"] = 4
    p.write("large_addresses")


for make in (rp2350, stm32mp25, psoc6, cyt2bl3, alif_e7, imx7, ti_k3, nrf5340, musca, stm32h745, mcxn947, high):
    make()
