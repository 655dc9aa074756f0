import type { AuditExportFormat } from './audit-entry.dto';
import type { AuditEntryEntity } from './audit-entry.entity';

const COLUMNS = [
  'id',
  'createdAt',
  'action',
  'entity',
  'entityId',
  'actorType',
  'actorId',
  'actorName',
  'address',
  'userAgent',
  'requestId',
  'before',
  'after',
  'metadata',
] as const satisfies (keyof AuditEntryEntity)[];

/**
 * Positions at which a spreadsheet may begin a formula: at the start of a text, and after characters that
 * separate cells in some countries. A `'` is inserted there, because strangers choose texts such as a user
 * agent. Full-width characters are included, because Japanese spreadsheets run formulas with them.
 */
const FORMULA = /^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[;|\t\r\n])(?=[=+\-@＝＋－＠])/g;

/** Byte order mark, without which Excel does not read the file as UTF-8. */
const BOM = '\uFEFF';

export function headOf(format: AuditExportFormat): string[] {
  return format === 'csv' ? [`${BOM}${COLUMNS.join()}\r\n`] : [];
}

/** Returns an entry as a line of JSON, or of CSV (RFC 4180) with objects as JSON. */
export function lineOf(entry: AuditEntryEntity, format: AuditExportFormat): string {
  if (format === 'ndjson') return `${JSON.stringify(entry)}\n`;
  return `${COLUMNS.map((column) => cellOf(entry[column])).join()}\r\n`;
}

function cellOf(value: string | Date | object | null): string {
  if (value === null) return '';
  const text =
    typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : JSON.stringify(value);
  const harmless = text.replace(FORMULA, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
