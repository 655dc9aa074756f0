import type { ErrorDetail, ErrorValues, FaultCode, ReasonCode } from '../api/types';

/** Texts of errors in a language, by code. `words` translates values. */
export interface ErrorTexts {
  /** Subject of a fault that is shown under its field. */
  subject: string;
  faults: Record<FaultCode, string>;
  reasons: Record<ReasonCode, string>;
  words: Record<string, string>;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Words and formats of the page's language. Without `texts`, the service's own words are in it. */
export interface ErrorWriter {
  texts: ErrorTexts | null;
  moment: (at: string) => string;
}

/** Beginnings of the service's faults that are no sentences without the field. */
const PREDICATE = /^(?:is|are|was|were|must|may|has|does|can't|belongs|goes|stands|would)\b/;

/**
 * Returns the fault of a field as text; in the service's words where the fault's code has no text here. The
 * service's words become a sentence about the field if its name is given.
 */
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

/** Returns the fault of a field as text, with the field's name. */
export function fieldText(detail: ErrorDetail, writer: ErrorWriter): string {
  if (!writer.texts) return faultText(detail, writer);
  return `${writer.texts.words[detail.field] ?? detail.field}: ${translated(detail, writer) ?? detail.message}`;
}

function translated(
  { code, values }: Pick<ErrorDetail, 'code' | 'values'>,
  writer: ErrorWriter,
): string | undefined {
  const text = code && writer.texts?.faults[code];
  return text && fill(text, values, writer);
}

/** Returns the words of a field's name, such as "Allowed origins" of `credentials.allowedOrigins`. */
function subjectOf(field: string): string {
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  const words = name.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const spelled = words.replace(/\b(?:id|url)\b/gi, (word) => word.toUpperCase());
  return spelled.charAt(0).toUpperCase() + spelled.slice(1);
}

/** Returns why a request was refused as a whole; undefined where the reason has no text here. */
export function reasonText(
  { reason, values }: { reason?: ReasonCode | undefined; values?: ErrorValues | undefined },
  writer: ErrorWriter,
): string | undefined {
  const text = reason && writer.texts?.reasons[reason];
  return text ? fill(text, values, writer) : undefined;
}

/** Puts values in for the placeholders of a text, as the service does with its own. */
function fill(text: string, values: ErrorValues = {}, { texts, moment }: ErrorWriter): string {
  const word = (value: string | number) =>
    typeof value === 'string' && TIME.test(value) ? moment(value) : (texts?.words[value] ?? String(value));
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : [value].flat().map(word).join(', ');
  });
}
