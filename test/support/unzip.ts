import { crc32, inflateRawSync } from 'node:zlib';

/** Reads an archive by its directory, and checks the checksums. */
export function unzip(archive: Buffer): Record<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('PK\x06\x06', 'latin1'));
  let at = Number(archive.readBigUInt64LE(end + 48));
  const files: Record<string, Buffer> = {};
  for (let left = Number(archive.readBigUInt64LE(end + 32)); left > 0; left--) {
    const [crc, packed, bytes, nameBytes] = [16, 20, 24]
      .map((n) => archive.readUInt32LE(at + n))
      .concat(archive.readUInt16LE(at + 28)) as [number, number, number, number];
    const name = archive.subarray(at + 46, at + 46 + nameBytes).toString();
    const local = Number(archive.readBigUInt64LE(at + 46 + nameBytes + 4));
    const content = inflateRawSync(archive.subarray(local + 30 + nameBytes, local + 30 + nameBytes + packed));
    expect([crc32(content), content.length]).toEqual([crc, bytes]);
    files[name] = content;
    at += 46 + nameBytes + archive.readUInt16LE(at + 30);
  }
  return files;
}
