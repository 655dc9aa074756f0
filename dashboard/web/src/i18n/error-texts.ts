import type { ErrorDetail, ErrorValues, FaultCode, ReasonCode } from '../api/types';

/** Texts of errors in one language, by code. `words` translates values that the texts contain. */
export interface ErrorTexts {
  /** Word such as `Das` that is put before a fault's text, if that text begins with a lower-case letter. */
  subject: string;
  faults: Record<FaultCode, string>;
  reasons: Record<ReasonCode, string>;
  words: Record<string, string>;
  /** Returns the name of a field in words; the field itself if it has none. */
  nameOf: (field: string) => string;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Texts and formats of the page's language. `texts` is null in English, the server's own language. */
export interface ErrorWriter {
  texts: ErrorTexts | null;
  moment: (at: string) => string;
}

/** Matches a server's message that begins with a verb, so that the field's name must be put before it. */
const PREDICATE = /^(?:is|are|was|were|must|may|has|does|can't|belongs|goes|stands|would)\b/;

/** Returns a field's fault in the page's language, or else the server's message about the field. */
export function faultText(
  { field, code, message, values }: Omit<ErrorDetail, 'field'> & { field?: string },
  writer: ErrorWriter,
): string {
  const text = translated({ code, values }, writer);
  if (text) return /^\p{Ll}/u.test(writer.texts!.faults[code!]) ? `${writer.texts!.subject} ${text}` : text;
  return field !== undefined && !writer.texts && PREDICATE.test(message)
    ? `${subjectOf(field)} ${message}`
    : message;
}

/** Returns a field's fault as text that begins with the field's name. */
export function fieldText(detail: ErrorDetail, writer: ErrorWriter): string {
  if (!writer.texts) return faultText(detail, writer);
  return `${writer.texts.nameOf(detail.field)}: ${translated(detail, writer) ?? detail.message}`;
}

function translated(
  { code, values }: Pick<ErrorDetail, 'code' | 'values'>,
  writer: ErrorWriter,
): string | undefined {
  const text = code && writer.texts?.faults[code];
  return text && fill(text, values, writer);
}

/** Returns a field's name in words, such as "Allowed origins" for `credentials.allowedOrigins`. */
function subjectOf(field: string): string {
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  const words = name.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const spelled = words.replace(/\b(?:id|url)\b/gi, (word) => word.toUpperCase());
  return spelled.charAt(0).toUpperCase() + spelled.slice(1);
}

/** Returns why a request was refused; undefined if the page's language has no text for the reason. */
export function reasonText(
  { reason, values }: { reason?: ReasonCode | undefined; values?: ErrorValues | undefined },
  writer: ErrorWriter,
): string | undefined {
  const text = reason && writer.texts?.reasons[reason];
  return text ? fill(text, values, writer) : undefined;
}

/** Replaces placeholders such as `{limit}` with values: formats times and translates known words. */
function fill(text: string, values: ErrorValues = {}, { texts, moment }: ErrorWriter): string {
  const word = (value: string | number) =>
    typeof value === 'string' && TIME.test(value) ? moment(value) : (texts?.words[value] ?? String(value));
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : [value].flat().map(word).join(', ');
  });
}
