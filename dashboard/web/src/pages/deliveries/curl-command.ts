import type { DeliveryDetail } from '../../api/types';

type Request = NonNullable<DeliveryDetail['request']>;

/** Headers computed by the commands, because signatures are not stored and receivers refuse old times. */
const MADE: Record<string, string> = {
  'x-service-signature': '"x-service-signature: sha256=$service"',
  'webhook-timestamp': '"webhook-timestamp: $now"',
  'webhook-signature': '"webhook-signature: v1,$standard"',
};

/**
 * Returns shell commands that sign a request with the secret in `$WEBHOOK_SECRET` and send it with curl. They
 * need OpenSSL. All values of the request are in single quotes, so that the shell executes none of them.
 */
export function curlCommand({ method, url, headers, body }: Request): string {
  const id = headers.find(({ name }) => name === 'webhook-id')?.value ?? '';
  const lines = headers.map(({ name, value }) => `-H ${MADE[name] ?? quote(`${name}: ${value}`)}`);
  return [
    '(',
    ': "${WEBHOOK_SECRET:?Set it to the secret of the endpoint.}"',
    `id=${quote(id)}`,
    `body=${quote(body)}`,
    'now=$(date +%s)',
    'key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d " \\n")',
    'service=$(printf %s "$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d" " -f1)',
    'standard=$(printf %s "$id.$now.$body" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$key -binary | openssl base64 -A)',
    [`curl --globoff -X ${method} ${quote(url)}`, ...lines, '--data-raw "$body"'].join(' \\\n  '),
    ')',
  ].join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
