const SHOWN = 8;

/** Returns the end of an id: its beginning is a time, and alike for what was made at the same moment. */
export function shortId(id: string): string {
  return id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id;
}
