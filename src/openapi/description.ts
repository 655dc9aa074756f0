import { COMPATIBILITY } from '../common/compatibility';
import { SCOPE_DESCRIPTIONS } from '../access/permissions';

const scopeRows = Object.entries(SCOPE_DESCRIPTIONS).map(([scope, allows]) => `| \`${scope}\` | ${allows} |`);

/** Introduction of the API's OpenAPI document, about all routes and webhooks. */
export const description = `
Act for a workspace of the live-chat platform: list, open and update conversations, read and search their messages, send
messages as an agent, keep contacts, look agents up, and manage webhook endpoints. Webhooks push what happens.

## Authentication
Every request carries an API key, made in the dashboard, in either header: \`Authorization: Bearer plk_…\` or
\`x-api-key: plk_…\`. If both carry a key, they must be equal; an \`Authorization\` of another scheme, such as a proxy's
Basic, is not read. A key acts for one workspace, within its scopes. A route names
the scope it needs; where it names several, one of them is enough. Another workspace's data answers exactly like data
that does not exist.

| Scope | Allows |
|---|---|
${scopeRows.join('\n')}

After the 14-day trial, and until an upgrade, writes answer 402 and reads go on.

## Conventions
Identifiers are opaque strings. Timestamps are ISO 8601 in UTC. Unknown values are null, never left out.
Bodies are JSON in UTF-8. In a request, null in an optional field counts as left out, unless its schema says that it may
be null.

${COMPATIBILITY}

## Pagination
Lists come newest first, in pages of \`limit\` rows (1 to 200, default 50): \`{ data, nextCursor }\`. Send \`nextCursor\`
as \`cursor\` to get the next page; it is null on the last one. Pages neither repeat nor lose a row that existed at the
first page, whatever changes in between. Where a list is filtered by agent, contact or time of change, and in a search, a
page may be short, or empty, before the last one: go on until \`nextCursor\` is null. By latest activity, a conversation
that gets a message between two pages moves to the first page.

## Errors
Every error has one form: \`{ error: { code, message, reason?, values?, details?, requestId } }\`. Decide by \`code\`;
\`message\` is for people. To say it in another language, \`reason\`, or the \`code\` of a detail, stands for its text and
\`values\` for what the text holds. \`requestId\` is also in the \`X-Request-Id\` header: quote it to support. The checks run in this
order: body readable (400) and not too large (413), path (404), key, rate, scope, trial, request, existence.

## Limits
240 requests a minute for each path and workspace, over all its keys, or the workspace's own cap. Ids do not make another
path, and all methods of a path count together. \`X-RateLimit-*\` show the present count; a 429 has \`Retry-After\`, and an
early call does not lengthen the wait. Bodies are at most 256 KiB.

## Channels
A workspace connects its account on each channel in the dashboard, or with the operator's CLI (\`channel connect\`), not
through this API. Without a connection, messages fail with \`NO_CONNECTION\`. A message leaves over its conversation's
channel, in order; \`delivery\` shows its progress when you read it again. What the channels' providers and the widget's script
call takes no API key, and has a document of its own: \`/channels/openapi.json\`.

## Webhooks
Each event is an HTTPS POST to every active endpoint subscribed to it, or to \`*\`. Endpoints are made in the dashboard, or
with a key: one may make and change those whose events it has the scope to read, so never those for
\`channel.status_changed\`, \`audit.event\`, alerts or \`*\`. Answer with 2xx within 10 seconds; any other answer is retried up to
5 times, after 2, 4, 8, 16 and 32 seconds. The same event can arrive twice, with the same \`x-service-delivery\` and the
same \`data.message.id\`.

To verify a delivery, compute the HMAC-SHA256 of the raw body with the endpoint's whole secret as the key, and compare its
hex digest with \`x-service-signature\` (after \`sha256=\`) in constant time. Or hand the \`webhook-*\` headers to any
Standard Webhooks library.
`.trim();

/** Introduction of the OpenAPI document of the routes that the channels' providers and the widget call. */
export const channelsDescription = `
What the providers of channels and the widget on a workspace's pages call. Neither has an API key: providers sign their
requests, and visitors have tokens of their sessions.
`.trim();
