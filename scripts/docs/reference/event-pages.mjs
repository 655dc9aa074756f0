// The reference of the events: a page of what they share, a page a type, and the signatures worked through.
import { serviceSignature, standardSignature } from '#dist/webhooks/sending/signature.js';
import { fieldTable } from './api-pages.mjs';
import { resolve } from './document.mjs';

/**
 * @typedef {import('./document.mjs').Document} Document
 * @typedef {import('./document.mjs').Operation} Operation
 * @typedef {import('../sources.mjs').Page} Page
 */

const FOLDER = 'reference/events';

/**
 * @param {Document} document
 * @returns {Page[]}
 */
export function eventPages(document) {
  const events = Object.entries(document.webhooks ?? {}).map(([type, item]) => ({
    type,
    operation: /** @type {Operation} */ (/** @type {{ post: unknown }} */ (item).post),
  }));
  return [
    { path: FOLDER, source: `docs/${FOLDER}.md`, markdown: overview(document, events) },
    ...events.map(({ type, operation }) => ({
      path: `${FOLDER}/${type}`,
      source: `docs/${FOLDER}/${type}.md`,
      markdown: eventPage(document, type, operation),
    })),
    {
      path: `${FOLDER}/signatures`,
      source: `docs/${FOLDER}/signatures.md`,
      markdown: signaturePage(document),
    },
  ];
}

/**
 * @param {Document} document
 * @param {{ type: string, operation: Operation }[]} events
 */
function overview(document, events) {
  const rows = events.map(
    ({ type, operation }) => `| [\`${type}\`](/docs/${FOLDER}/${type}) | ${operation.description} |`,
  );
  const [first] = events;
  const headers = (first?.operation.parameters ?? []).map((parameter) => resolve(document, parameter));
  const headerRows = headers.map(({ name, description, schema }) => {
    const example = schema.example ?? schema.enum?.[0];
    return `| \`${name}\` | ${description} | ${example === undefined ? '' : `\`${String(example)}\``} |`;
  });
  return `# Events

The service sends each event as an https \`POST\` to every active endpoint that is subscribed to it, or to \`*\`.
[Receiving webhooks](/docs/how-to/receive-webhooks) says what a receiver does.

| Event | When |
| --- | --- |
${rows.join('\n')}

The JSON Schema of each one is in the OpenAPI document, \`/api/v1/openapi.json\`, and \`WebhookEvent\` is the union of
them, told apart by \`event\`.

## The body

Every body has these keys; \`data\` is the event's own.

| Key | Is |
| --- | --- |
| \`event\` | the type |
| \`deliveredAt\` | the moment of this attempt: each of a delivery has its own |
| \`data\` | what happened |

## The headers

| Header | Is | Example |
| --- | --- | --- |
${headerRows.join('\n')}
`;
}

/**
 * @param {Document} document
 * @param {string} type
 * @param {Operation} operation
 */
function eventPage(document, type, { description = '', requestBody, parameters = [] }) {
  const media = requestBody?.content?.['application/json'];
  if (!media) throw new Error(`The event ${type} has no body.`);
  const isOrdered = parameters.some(
    (parameter) => resolve(document, parameter).name === 'x-service-sequence',
  );
  return `# ${type}

${description}

${
  isOrdered
    ? 'It is numbered within its conversation: sort by `x-service-sequence`, because events can arrive out of order.'
    : 'It has no number: its order among others is not told.'
}

\`\`\`json
${JSON.stringify(media.example, null, 2)}
\`\`\`

${fieldTable(document, media.schema, false)}
`;
}

/** @param {Document} document */
function signaturePage(document) {
  const secret = `whsec_${Buffer.from('an example of thirty-two bytes!!').toString('base64')}`;
  const post = /** @type {{ post: Operation }} */ (
    /** @type {unknown} */ (document.webhooks?.['message.created'])
  ).post;
  const body = JSON.stringify(post.requestBody?.content?.['application/json']?.example);
  const id = '019ab3f6-2e10-7aa4-8c3d-5e6f7a8b9c0d';
  const timestamp = 1_795_167_667;
  const service = serviceSignature(secret, body);
  const standard = standardSignature(secret, id, timestamp, body);
  return `# Signatures, worked through

Every delivery has two signatures of its raw body. Check either one. This example has real values: with them you can
test a check of your own, such as [the one in TypeScript or Python](/docs/how-to/receive-webhooks#verify).

The secret of the endpoint:

\`\`\`text
${secret}
\`\`\`

The raw body, ${Buffer.byteLength(body)} bytes without a line's end:

\`\`\`text
${body}
\`\`\`

## x-service-signature

The HMAC-SHA256 of the body. The key is the whole secret, \`whsec_\` included; the result is in hex, after \`sha256=\`:

\`\`\`text
${service}
\`\`\`

\`\`\`sh tab=Shell
printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET"
\`\`\`
\`\`\`python tab=Python
import hashlib
import hmac

print("sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest())
\`\`\`

## webhook-signature

The signature of [Standard Webhooks](https://www.standardwebhooks.com). It signs the headers \`webhook-id\` and
\`webhook-timestamp\` too, with dots between: \`id.timestamp.body\`. The key is what is left of the secret after
\`whsec_\`, decoded from base64; the result is in base64, after \`v1,\`:

\`\`\`http
webhook-id: ${id}
webhook-timestamp: ${timestamp}
webhook-signature: ${standard}
\`\`\`

\`\`\`sh tab=Shell
KEY=$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n')
printf %s "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64
\`\`\`
\`\`\`python tab=Python
import base64
import hashlib
import hmac

key = base64.b64decode(secret.removeprefix("whsec_"))
signed = f"{webhook_id}.{timestamp}.".encode() + body
print("v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode())
\`\`\`

Refuse a timestamp that is more than five minutes away from your clock: then nobody can send an old delivery again. The
libraries of Standard Webhooks do, so they refuse this example as too old. While [a secret is
rolled](/docs/how-to/receive-webhooks#roll-the-secret) the header has two signatures, with a blank between: one that is
right is enough.
`;
}
