import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/** The name under which every connection keeps a statement: the same text has the same name in all processes. */
export function nameOf(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
    names.set(sql, name);
  }
  return name;
}
