import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { AppError } from '../common/app-error';

const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** `a,b` as a list; an empty text as an empty one. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

/** A date, or a date and time with its zone. */
export function isoDate(text: string): Date {
  const date = new Date(text);
  if (!ISO_DATE.test(text) || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('Give an ISO 8601 date such as 2026-12-31T23:59:59Z.');
  return date;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

/** A whole number, or `default` (not null: commander takes that for a missing value). */
export function wholeNumberOrDefault(text: string): number | 'default' {
  return text === 'default' ? text : wholeNumber(text);
}

const STDIN = 0;

/**
 * A JSON object: the argument itself, `@file`, or `-` for stdin. It may be secret, so it is refused by an error of our
 * own: commander's repeats the argument.
 */
export function credentials(text: string): object {
  const value = parsed(text === '-' ? read(STDIN) : text.startsWith('@') ? read(text.slice(1)) : text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw AppError.invalidBody('credentials', 'must be a JSON object, @file or -');
}

function read(source: string | number): string {
  try {
    return readFileSync(source, 'utf8');
  } catch (error) {
    throw AppError.invalidBody('credentials', `cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export function trueOrFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Give true or false.');
  return text === 'true';
}
