/** The document's opening page: what holds for every route and every webhook. */
export const description = `
Act for a workspace of the live-chat platform: list and update conversations, read their messages, send messages as an
agent, search contacts. Webhooks are the push counterpart.

## Authentication
Every request carries an API key, made in the dashboard, in either header: \`Authorization: Bearer plk_…\` or
\`x-api-key: plk_…\`. Both may be sent if they are the same. A key acts for one workspace and within its scopes; a route
names the scope it needs, and where it names several, any one of them will do. Another workspace's things answer exactly
as if they did not exist.

| Scope | Allows |
|---|---|
| \`conversations:read\` | list and read conversations and their messages |
| \`conversations:write\` | close, reopen or reassign conversations |
| \`messages:read\` | read a conversation's message history |
| \`messages:write\` | send a message as an agent |
| \`contacts:read\` | list and search contacts |

After the 14-day trial, and until the workspace is upgraded, writes answer 402 and reads go on.

## Conventions
Identifiers are opaque strings. Timestamps are ISO 8601 in UTC. What is unknown is null, never left out. New fields,
enum values and event types may appear at any time: ignore what you do not know.

## Pagination
Lists come newest first, in pages of \`limit\` rows (1 to 200, default 50): \`{ data, nextCursor }\`. Send \`nextCursor\`
as \`cursor\` to get the next page; it is null on the last one. Pages neither repeat nor lose a row that was there at the first, whatever changes
meanwhile.

## Errors
Every error has one form: \`{ error: { code, message, details?, requestId } }\`. Decide by \`code\`; \`message\` and
\`details\` are for people. \`requestId\` is also in the \`X-Request-Id\` header: quote it to support. A key is checked
first, then the rate, the scope, the trial, the request itself, and last whether the thing exists. Only a path that does
not exist (404) and a body that cannot be read (400) or is too large (413) are refused before that, on every path.

## Limits
240 requests a minute for each path and workspace, over all its keys, or the workspace's own cap. Ids do not make another
path, and methods count together. \`X-RateLimit-*\` tells where you stand; a 429 has \`Retry-After\`, and calling earlier
does not make the wait longer. Bodies are at most 256 KiB.

## Channels
A workspace's account on each channel is connected in the dashboard, or with the operator's CLI (\`channel connect\`), not
through this API. Without a connection, customers write nothing and messages fail (\`NO_CONNECTION\`). A message sent
leaves over its conversation's channel, in order; \`delivery\` tells how far it is, and is worth reading again later. The
routes under Channels and Widget are for the providers and for the widget's script: they take no API key.

## Webhooks
Each event is an HTTPS POST to every active endpoint subscribed to it, or to \`*\`. Answer with 2xx within 10 seconds;
anything else is tried again up to 5 times, 2, 4, 8, 16 and 32 seconds later. The same event can arrive twice:
\`x-service-delivery\` is then the same, and so is \`data.message.id\`.

To verify a delivery, compute the HMAC-SHA256 of the raw body with the endpoint's whole secret as the key, and compare its
hex digest with \`x-service-signature\` (after \`sha256=\`) in constant time. Or hand the \`webhook-*\` headers to any
Standard Webhooks library.
`.trim();
