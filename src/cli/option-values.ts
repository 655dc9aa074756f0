import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { AppError } from '../common/app-error';
import type { Channel } from '../common/channel-descriptors';

const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export function option(flags: string, description = '', parse?: (text: string) => unknown): Option {
  const made = new Option(flags, description);
  return parse ? made.argParser(parse) : made;
}

export function required(...made: Parameters<typeof option>): Option {
  return option(...made).makeOptionMandatory();
}

/**
 * Makes the error for an option's wrong value. It has no fault code, because only a dashboard needs codes.
 */
export function optionFault(field: string, message: string): AppError {
  return new AppError('INVALID_BODY', `${field} ${message}.`, [{ field, message }]);
}

/** Splits `a,b`; an empty text gives an empty list. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

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

/**
 * Makes a parser of an option that takes either a value, or a word that removes the stored value. The word
 * becomes false, like commander's `--no-…`, because commander treats null as a missing value.
 */
export function orNone<T>(word: string, parse: (text: string) => T): (text: string) => T | false {
  return (text) => text !== word && parse(text);
}

/** Converts an option's false, which removes a value, into the null that services expect. */
export function orNull<T>(value: T | false): T | null {
  return value === false ? null : value;
}

/** Parses a channel in upper or lower case. The service checks that the channel exists. */
export function channel(text: string): Channel {
  return text.toUpperCase() as Channel;
}

/** Parses `CHANNEL:ID`. The id may contain colons. */
export function identity(text: string): { channel: Channel; externalId: string } {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give a channel and an id, such as WHATSAPP:33612345678.');
  return { channel: channel(text.slice(0, colon)), externalId: text.slice(colon + 1) };
}

const STDIN = 0;

/**
 * Parses a JSON object: the argument itself, `@file`, or `-` for stdin. The JSON may be secret, and
 * commander's error would repeat the argument, so this function throws an AppError.
 */
export function credentials(text: string): object {
  const [source, json] = sourceOf(text);
  const value = parsed(source, json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw optionFault('credentials', `must be a JSON object, and ${source} is another value`);
}

/** Returns the name of the JSON's source, which contains no secret, and the JSON. */
function sourceOf(text: string): [source: string, json: string] {
  if (text === '-') return ['stdin', read('stdin', STDIN)];
  if (!text.startsWith('@')) return ['the argument', text];
  const path = text.slice(1);
  // The path is not shown if it has { or ", because it may be secret JSON with an @ in front by mistake.
  const source = /[{"]/.test(path) ? 'the file' : `the file ${path}`;
  return [source, read(source, path)];
}

function read(source: string, from: string | number): string {
  try {
    return readFileSync(from, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw optionFault('credentials', `cannot be read: ${source}: ${code}`);
  }
}

/** Parses JSON. Its error has only the position, because the parser's own message quotes the JSON. */
function parsed(source: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const position = /at position \d+/.exec((error as Error).message)?.[0];
    const fault = `${source} is no JSON${position ? ` ${position}` : ''}`;
    throw optionFault('credentials', `must be a JSON object, @file or -; ${fault}`);
  }
}

export function trueOrFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Give true or false.');
  return text === 'true';
}
