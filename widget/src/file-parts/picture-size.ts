/** Bytes in which the size of a picture must stand. A JPEG may have a large preview before it. */
const HEAD_BYTES = 256 * 1024;

interface Size {
  width: number;
  height: number;
}

/**
 * Reads the size of a PNG, JPEG, GIF or WebP from its first bytes, without decoding it. Returns null for
 * other files. The size is as the picture is shown, so a turned JPEG has its sides swapped.
 */
export async function measure(blob: Blob): Promise<Size | null> {
  const data = new DataView(await blob.slice(0, HEAD_BYTES).arrayBuffer());
  try {
    return sizeOfPng(data) ?? sizeOfGif(data) ?? sizeOfWebp(data) ?? sizeOfJpeg(data);
  } catch {
    // The picture ends too early.
    return null;
  }
}

function sizeOfPng(data: DataView): Size | null {
  if (data.getUint32(0) !== 0x89504e47) return null;
  return { width: data.getUint32(16), height: data.getUint32(20) };
}

function sizeOfGif(data: DataView): Size | null {
  if (data.getUint32(0) !== 0x47494638) return null;
  return { width: data.getUint16(6, true), height: data.getUint16(8, true) };
}

function sizeOfWebp(data: DataView): Size | null {
  if (data.getUint32(0) !== 0x52494646 || data.getUint32(8) !== 0x57454250) return null;
  const format = data.getUint32(12);
  // The three formats are "VP8X", "VP8L" and "VP8 ".
  if (format === 0x56503858) return { width: uint24(data, 24) + 1, height: uint24(data, 27) + 1 };
  if (format === 0x5650384c) {
    const bits = data.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  return { width: data.getUint16(26, true) & 0x3fff, height: data.getUint16(28, true) & 0x3fff };
}

function sizeOfJpeg(data: DataView): Size | null {
  if (data.getUint16(0) !== 0xffd8) return null;
  let isTurned = false;
  for (let at = 2; data.getUint8(at) === 0xff;) {
    const marker = data.getUint8(at + 1);
    const length = data.getUint16(at + 2);
    if (marker === 0xe1) isTurned ||= isOnItsSide(data, at + 4);
    // Markers of frames. The three exceptions are markers of tables.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [data.getUint16(at + 5), data.getUint16(at + 7)];
      return isTurned ? { width: height, height: width } : { width, height };
    }
    at += 2 + length;
  }
  return null;
}

/** Reports whether EXIF data says that a picture is turned by a quarter. */
function isOnItsSide(data: DataView, exif: number): boolean {
  if (data.getUint32(exif) !== 0x45786966) return false;
  const begin = exif + 6;
  const isLittle = data.getUint16(begin) === 0x4949;
  const directory = begin + data.getUint32(begin + 4, isLittle);
  const count = data.getUint16(directory, isLittle);
  for (let index = 0; index < count; index += 1) {
    const entry = directory + 2 + index * 12;
    if (data.getUint16(entry, isLittle) === 0x0112) return data.getUint16(entry + 8, isLittle) >= 5;
  }
  return false;
}

function uint24(data: DataView, at: number): number {
  return data.getUint16(at, true) | (data.getUint8(at + 2) << 16);
}
