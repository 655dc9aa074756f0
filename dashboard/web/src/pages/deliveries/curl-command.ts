import type { DeliveryDetail } from '../../api/types';

type Request = NonNullable<DeliveryDetail['request']>;

/**
 * Returns a shell command that sends a request again, without its signatures: these are not stored.
 * Everything stands in single quotes, in which a shell reads no character but the quote itself.
 */
export function curlCommand({ method, url, headers, body }: Request): string {
  const given = headers.filter(({ value }) => value !== null);
  return [
    `curl --globoff -X ${method} ${quote(url)}`,
    ...given.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
