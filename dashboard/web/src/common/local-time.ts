/** Converts an ISO 8601 time to the value of a `datetime-local` field, in the browser's time zone. */
export function toLocal(iso: string | undefined): string {
  const at = iso === undefined ? NaN : Date.parse(iso);
  if (Number.isNaN(at)) return '';
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/** Converts a `datetime-local` field's value to an ISO 8601 time; undefined for an unfinished value. */
export function fromLocal(local: string): string | undefined {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
