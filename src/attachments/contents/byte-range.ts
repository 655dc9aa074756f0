import { FileRange } from '../store/file-store';

const RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * Reads a `Range` header for content of `size` bytes.
 * @returns the range; null if the whole content is to be sent, as for several ranges; `unsatisfiable` if no
 *   byte of the content is in the range
 */
export function readRange(header: string | undefined, size: number): FileRange | null | 'unsatisfiable' {
  const [, first, last] = RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const count = Number(last);
    return count === 0 ? 'unsatisfiable' : { start: Math.max(size - count, 0), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
