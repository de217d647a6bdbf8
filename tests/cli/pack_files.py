# SPDX-License-Identifier: Apache-2.0
"""Description files for the tests, as small as they can be: a PDSC, a .pack around it, a cbuild-run file."""
import zipfile
from xml.sax.saxutils import escape

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.28" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>Example</vendor>
  <name>{name}</name>
  <description>written for a test</description>
  <url>https://example.invalid/</url>
  <releases><release version="0.0.1" date="2026-01-01">first</release></releases>
  <devices>
    <family Dfamily="Family" Dvendor="Generic:5">
{family}
"""
TAIL = """    </family>
  </devices>
</package>
"""
ONE_CORE = """      <processor Dcore="Cortex-M7" DcoreVersion="r1p1" Dfpu="0" Dmpu="0" Dendian="Little-endian" Dclock="100000000"/>
      <debugconfig default="swd" clock="4000000" swj="1"/>
      <debug __dp="0" __ap="0"/>
"""
TWO_CORES = """      <processor Pname="M7" Dcore="Cortex-M7" DcoreVersion="r1p1" Dfpu="0" Dmpu="0" Dendian="Little-endian" Dclock="100000000"/>
      <processor Pname="M4" Dcore="Cortex-M4" DcoreVersion="r0p1" Dfpu="0" Dmpu="0" Dendian="Little-endian" Dclock="100000000"/>
      <debugconfig default="swd" clock="4000000" swj="1"/>
      <debug Pname="M7" __dp="0" __ap="0"/>
      <debug Pname="M4" __dp="0" __ap="1"/>
"""


def block(text):
    return f"          <block>\n{escape(text)}\n          </block>\n"


def sequence(name, text, attributes=""):
    return f'        <sequence name="{name}"{attributes}>\n{block(text)}        </sequence>\n'


def sequences(*parts):
    return "      <sequences>\n" + "".join(parts) + "      </sequences>\n"


def device(name, inner=""):
    return (f'      <device Dname="{name}">\n'
            '        <memory name="FLASH" access="rx" start="0x08000000" size="0x00040000" startup="1" default="1"/>\n'
            f"        <description>none</description>\n{inner}      </device>\n")


def pdsc(family, *devices):
    return HEAD.format(name="Test_DFP", family=family) + "".join(devices or (device("ONE"),)) + TAIL


def write(corral, name, text):
    with open(corral.path(name), "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return name


def write_pack(corral, name, files):
    with zipfile.ZipFile(corral.path(name), "w", zipfile.ZIP_DEFLATED) as z:
        for inside, text in files.items():
            z.writestr(inside, text)
    return name


def cbuild_run(debugger="", sequences_="", output="", variables=""):
    """Two cores behind the access ports of the virtual board."""
    return f"""cbuild-run:
  generated-by: csolution version 2.8.0
  solution: test.csolution.yml
  target-type: Board
  compiler: GCC
  device: Vendor::Dual
  device-pack: Vendor::Dual_DFP@1.0.0
{output}  debugger:
    name: corral
    protocol: swd
    clock: 4000000
{debugger}{variables}{sequences_}  debug-topology:
    debugports:
      - dpid: 0
        accessports:
          - apid: 0
            index: 0
          - apid: 1
            index: 1
    processors:
      - pname: M7
        apid: 0
      - pname: M4
        apid: 1
"""
