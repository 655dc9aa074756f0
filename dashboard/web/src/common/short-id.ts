const SHOWN = 8;

/**
 * Returns the last 8 characters of an id. The beginning of an id is a time stamp, so ids made at about the
 * same time begin alike.
 */
export function shortId(id: string): string {
  return id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id;
}
