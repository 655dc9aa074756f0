import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { AuditEntryEntity } from '../audit/audit-entry.entity';
import { AppError } from '../common/app-error';

/**
 * Writes entries to a new file, a line of JSON each, as they are read.
 * @returns how many
 */
export async function writeJsonLines(
  entries: AsyncIterable<AuditEntryEntity>,
  path: string,
): Promise<number> {
  let count = 0;
  async function* lines() {
    for await (const entry of entries) {
      count += 1;
      yield `${JSON.stringify(entry)}\n`;
    }
  }
  try {
    await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw AppError.invalidBody('file', `cannot be written: ${code}`);
  }
  return count;
}
