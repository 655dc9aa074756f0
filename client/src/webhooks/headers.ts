/** Headers of a webhook: a `Headers` object of `fetch`, the headers of a Node request, or a plain object. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns a header's value, whatever the case of its name; undefined if it is missing or came twice. */
export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value =
    headers[name] ?? headers[Object.keys(headers).find((key) => key.toLowerCase() === name) ?? name];
  if (typeof value === 'string' || value === undefined) return value;
  return value.length === 1 ? value[0] : undefined;
}
