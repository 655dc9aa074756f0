// The reference of the errors: a page of their form, and a page a code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ERROR_STATUS } from '#dist/common/app-error.js';
import { FAULTS } from '#dist/common/fault-texts.js';
import { ROOT } from '../sources.mjs';
import { inCell } from './api-pages.mjs';
import { operationsOf, resolve } from './document.mjs';
import { BASE_URL } from './samples.mjs';

/**
 * @typedef {import('./document.mjs').Document} Document
 * @typedef {import('../sources.mjs').Page} Page
 * @typedef {object} DocumentedError
 * @property {string} code
 * @property {number} status
 * @property {string} when
 * @property {unknown} example
 * @property {{ method: string, path: string, summary: string, tag: string }[]} routes
 */

const FOLDER = 'reference/errors';

/**
 * @param {Document} document
 * @returns {Page[]}
 */
export function errorPages(document) {
  const errors = errorsOf(document);
  return [
    { path: FOLDER, source: `docs/${FOLDER}.md`, markdown: overview(errors) },
    ...errors.map((error) => ({
      path: `${FOLDER}/${error.code}`,
      source: `docs/${FOLDER}/${error.code}.md`,
      markdown: errorPage(error),
    })),
  ];
}

/**
 * Returns the errors of the API by what the document says of them at its operations.
 *
 * @param {Document} document
 * @returns {DocumentedError[]}
 */
function errorsOf(document) {
  return Object.entries(API_ERROR_STATUS).map(([code, status]) => {
    /** @type {DocumentedError} */
    const error = { code, status, when: '', example: undefined, routes: [] };
    for (const {
      method,
      path,
      summary,
      tags: [tag = ''],
      responses,
    } of operationsOf(document)) {
      const answer = responses[status] && resolve(document, responses[status]);
      const example = answer?.content?.['application/json']?.examples?.[code];
      if (!answer || !example) continue;
      const said = new RegExp(`\`${code}\`: ([^]*?)(?:\\n\\n\`|$)`).exec(answer.description ?? '');
      error.when ||= said?.[1] ?? '';
      error.example ??= example.value;
      error.routes.push({ method, path, summary, tag });
    }
    if (!error.when) throw new Error(`No operation documents ${code}.`);
    return error;
  });
}

/** @param {DocumentedError[]} errors */
function overview(errors) {
  const rows = errors.map(
    ({ code, status, when }) => `| ${status} | [\`${code}\`](/docs/${FOLDER}/${code}) | ${inCell(when)} |`,
  );
  return `# Errors

Every error has one form. Decide by \`code\`; \`message\` is for people. Quote \`requestId\`, which is also in the
header \`X-Request-Id\`, to support.

\`\`\`json
${JSON.stringify(errors[0]?.example, null, 2)}
\`\`\`

| Status | Code | When |
| --- | --- | --- |
${rows.join('\n')}

## Read the code

\`curl\` prints an error as it prints any answer. The client throws one, and so does Python's standard library, whose own
text has the status alone:

\`\`\`ts tab=TypeScript
import { ApiError, MessagingClient } from '@conversation-messaging/client';

const client = new MessagingClient({ baseUrl: '${BASE_URL}', apiKey: process.env.MESSAGING_API_KEY! });

try {
  await client.conversations.get('unknown');
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log(error.code, error.message, error.requestId);
}
\`\`\`
\`\`\`python tab=Python
import json
import os
import urllib.error
import urllib.request

request = urllib.request.Request(
    "${BASE_URL}/api/v1/conversations/unknown",
    headers={"Authorization": f"Bearer {os.environ['MESSAGING_API_KEY']}"},
)
try:
    urllib.request.urlopen(request)
except urllib.error.HTTPError as answer:
    error = json.load(answer)["error"]
    print(error["code"], error["message"], error["requestId"])
\`\`\`

To say an error in another language, \`reason\`, or the \`code\` of a detail, stands for its text, and \`values\` for
what the text holds. \`RATE_LIMITED\` and \`UNAVAILABLE\` have a header \`Retry-After\`, in seconds. The checks run in
this order: body readable and not too large, path known, key, rate, suspension, scope, trial, request, existence.
`;
}

/** Advice about each error, from the table of the README. */
const TO_DO = new Map(
  [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^\| \d{3} +\| `(\w+)` +\| (.*?) +\|$/gm)].map(
    ([, code, advice]) => [code, advice],
  ),
);

/** @param {DocumentedError} error */
function errorPage({ code, status, when, example, routes }) {
  const toDo = TO_DO.get(code);
  if (!toDo) throw new Error(`Nothing says what to do about ${code}.`);
  const list = routes.map(
    ({ method, path, summary, tag }) =>
      `- [\`${method} ${path}\`](/docs/reference/api/${tag.toLowerCase().replaceAll(' ', '-')}): ${summary}`,
  );
  return `# ${code}

Status ${status}. ${when}

What to do: ${toDo}.

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`
${code === 'INVALID_BODY' || code === 'INVALID_QUERY' ? details() : ''}
## Routes

${list.join('\n')}
`;
}

/** Returns the texts of what can be wrong with a field. Those of logins and channels are the dashboard's. */
function details() {
  const rows = Object.entries(FAULTS).map(([code, text]) => `| \`${code}\` | ${inCell(text)} |`);
  return `
## Codes of details

The \`code\` of a detail says what is wrong with the field; its \`values\` fill the words in braces. More may come.

| Code | Text |
| --- | --- |
${rows.join('\n')}
`;
}
