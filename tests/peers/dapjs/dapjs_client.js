// SPDX-License-Identifier: Apache-2.0
// Arm's dapjs debugs the board through the CMSIS-DAP front. Usage: dapjs_client.js PORT. Prints one line of JSON.
'use strict';
const net = require('net');
const { CortexM } = require('dapjs');

// Packets in OpenOCD's TCP frames: "DAP\0", length, kind (1 there, 2 back), 0.
class Tcp {
  constructor(port) {
    this.port = port;
    this.packetSize = 1024;
    this.data = Buffer.alloc(0);
    this.waiting = [];
  }

  open() {
    return new Promise((resolve, reject) => {
      this.socket = net.connect(this.port, '127.0.0.1', resolve);
      this.socket.setNoDelay(true);
      this.socket.on('error', reject);
      this.socket.on('data', (more) => {
        this.data = Buffer.concat([this.data, more]);
        while (this.data.length >= 8 && this.data.length >= 8 + this.data.readUInt16LE(4)) {
          const packet = this.data.subarray(8, 8 + this.data.readUInt16LE(4));
          this.data = this.data.subarray(8 + packet.length);
          this.waiting.shift()(new DataView(Uint8Array.from(packet).buffer));
        }
      });
    });
  }

  async close() {
    this.socket.destroy();
  }

  read() {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async write(data) {
    const packet = Buffer.from(ArrayBuffer.isView(data) ? data.buffer : data);
    const head = Buffer.from('DAP\0\0\0\x01\0', 'latin1');
    head.writeUInt16LE(packet.length, 4);
    this.socket.write(Buffer.concat([head, packet]));
  }
}

async function main() {
  const transport = new Tcp(Number(process.argv[2]));
  const core = new CortexM(transport);
  await core.connect();
  const said = {};
  said.dpidr = await core.readDP(0x0);
  said.cpuid = await core.readMem32(0xE000ED00);
  await core.halt();
  said.halted = await core.isHalted();
  said.pc = await core.readCoreRegister(15);
  await core.writeCoreRegister(0, 0x12345678);
  said.r0 = await core.readCoreRegister(0);
  // One KiB: dapjs sets TAR once, and that is how far it counts.
  const block = Uint32Array.from({ length: 256 }, (_, i) => i * 0x01010101 + 7);
  await core.writeBlock(0x20070000, block);
  const back = await core.readBlock(0x20070000, block.length);
  said.block = back.length === block.length && block.every((word, i) => word === back[i]);
  await core.resume(false);
  said.running = !(await core.isHalted());
  await core.disconnect();
  console.log(JSON.stringify(said));
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
