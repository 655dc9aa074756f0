const SHOWN = 8;

/** Returns an id's last 8 characters, because ids that were made at about the same time begin alike. */
export function shortId(id: string): string {
  return id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id;
}
