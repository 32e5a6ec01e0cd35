// Writes zip archives, honest ones by default; every field of an entry can be told to lie.

import { crc32, deflateRawSync } from 'node:zlib';

/**
 * `entries`: [{name, bytes, method = 8, crc, size, compressed, at}], where `at` points the directory at another
 * entry's local header (an overlap) and `compressed` gives the packed bytes outright.
 */
export function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const bytes = Buffer.from(entry.bytes ?? '');
    const method = entry.method ?? 8;
    const packed = entry.compressed ?? (method === 8 ? deflateRawSync(bytes) : bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0); // version needed
    fields.writeUInt16LE(0x0800, 2); // names are UTF-8
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(0x5a210000, 6); // a fixed date
    fields.writeUInt32LE(entry.crc ?? crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(entry.size ?? bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const at = entry.at ?? offset;
    if (entry.at === undefined) {
      const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, name]);
      parts.push(local, packed);
      offset += local.length + packed.length;
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((entry.mode ?? 0o100644) * 0x10000, 6);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), fields, tail, name);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length & 0xffff, 8);
  end.writeUInt16LE(entries.length & 0xffff, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
