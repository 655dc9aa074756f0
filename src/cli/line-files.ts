import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { optionFault } from './option-values';

/**
 * Writes lines, or parts of a file, as they are read, to a new file that only its owner may read, or to
 * stdout. If the first line can't be read, no file is created.
 * @returns the number of lines
 */
export async function writeLines(lines: AsyncGenerator<string | Uint8Array>, path?: string): Promise<number> {
  const first = await lines.next();
  let count = 0;
  async function* counted() {
    for (let line = first; !line.done; line = await lines.next()) {
      count += 1;
      yield line.value;
    }
  }
  const target = path === undefined ? process.stdout : createWriteStream(path, { flags: 'wx', mode: 0o600 });
  try {
    await pipeline(counted, target, { end: path !== undefined });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw optionFault('file', `cannot be written: ${code}`);
  }
  return count;
}
