/**
 * Writes a value as JSON. Unlike `JSON.stringify`, it calls no `toJSON`, which libraries such as Prototype.js
 * 1.6 add to every array of a page.
 */
export function toJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return `{${parts.map(([name, part]) => `${JSON.stringify(name)}:${toJson(part)}`).join()}}`;
}
