const SHOWN = 8;

/** Returns the last 8 characters of an id. Ids that were made at about the same time begin alike. */
export function shortId(id: string): string {
  return id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id;
}
