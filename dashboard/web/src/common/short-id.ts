const SHOWN = 8;

/** Returns the end of an id. Its beginning is a time, and the same in ids that were made at one moment. */
export function shortId(id: string): string {
  return id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id;
}
