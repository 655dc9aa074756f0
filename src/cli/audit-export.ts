import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { optionFault } from './option-values';

/**
 * Writes lines of the audit log to a new file, as they are read.
 * @returns how many
 */
export async function writeLines(lines: AsyncIterable<string>, path: string): Promise<number> {
  let count = 0;
  async function* counted() {
    for await (const line of lines) {
      count += 1;
      yield line;
    }
  }
  try {
    await pipeline(counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw optionFault('file', `cannot be written: ${code}`);
  }
  return count;
}
