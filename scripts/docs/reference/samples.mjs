// Samples of an operation: the same request by curl, by the client for TypeScript, and in Python with its
// standard library. A test runs them.
import { resolve } from './document.mjs';

/** @typedef {import('./document.mjs').Operation & { method: string, path: string }} Operation */

/** Address in the samples. A page of the site shows its own in its place. */
export const BASE_URL = 'http://localhost:3000';
const PAGE_SIZE = 20;

/**
 * Request of a sample: values for the path, the query and the body.
 *
 * @typedef {object} SampleRequest
 * @property {string} url
 * @property {string[]} ids
 * @property {Record<string, unknown>} query
 * @property {unknown} body
 * @property {boolean} takesKey whether it takes an `Idempotency-Key`
 */

/**
 * Returns the samples as Markdown, which shows them as tabs.
 *
 * @param {import('./document.mjs').Document} document
 * @param {Operation} operation
 */
export function samplesOf(document, operation) {
  const request = sampleRequest(document, operation);
  return [
    fence('sh tab=curl', curl(operation, request)),
    fence('ts tab=TypeScript', typescript(operation, request)),
    fence('python tab=Python', python(operation, request)),
  ].join('\n');
}

/**
 * @param {string} info
 * @param {string} code
 */
const fence = (info, code) => `\`\`\`${info}\n${code}\n\`\`\`\n`;

/**
 * Returns the request of an operation's samples: examples for what it needs, and a page's size for a list.
 *
 * @param {import('./document.mjs').Document} document
 * @param {Operation} operation
 * @returns {SampleRequest}
 */
export function sampleRequest(document, { path, parameters = [], requestBody }) {
  const resolved = parameters.map((parameter) => resolve(document, parameter));
  const exampleOf = (/** @type {string} */ name) =>
    resolved.find((parameter) => parameter.name === name)?.schema.example ?? 'x';
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    String(exampleOf(/** @type {string} */ (name))),
  );
  let index = 0;
  const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(/** @type {string} */ (ids[index++])));
  const query = Object.fromEntries(
    resolved
      .filter((parameter) => parameter.in === 'query')
      .filter(({ name, required }) => required || name === 'limit')
      .map(({ name, schema }) => [name, name === 'limit' ? PAGE_SIZE : schema.example]),
  );
  const search =
    Object.keys(query).length > 0 ? `?${new URLSearchParams(/** @type {{}} */ (query)).toString()}` : '';
  return {
    url: `${BASE_URL}${filled}${search}`,
    ids,
    query,
    body: requestBody && resolve(document, requestBody).content?.['application/json']?.example,
    takesKey: resolved.some(({ name }) => name.toLowerCase() === 'idempotency-key'),
  };
}

/**
 * @param {Operation} operation
 * @param {SampleRequest} request
 */
function curl({ method, operationId }, { url, body, takesKey }) {
  const lines = [
    `curl ${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}'${url}'`,
    `-H "Authorization: Bearer $MESSAGING_API_KEY"`,
    ...(takesKey ? [`-H 'Idempotency-Key: ${keyOf(operationId)}'`] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(' \\\n  ');
}

/**
 * @param {Operation} operation
 * @param {SampleRequest} request
 */
function typescript(operation, { ids, query, body }) {
  const call = clientMethodOf(operation);
  const given = [
    ...ids.map((id) => `'${id}'`),
    ...(Object.keys(query).length > 0 ? [literal(query)] : []),
    ...(body === undefined ? [] : [literal(body)]),
  ].join(', ');
  const [noun] = /** @type {RegExpExecArray} */ (/[^.]+(?=\.\w+$)|me$/.exec(call));
  const isList = /\.(?:list|search)$/.test(call);
  const use = isList
    ? `for await (const ${singular(noun)} of ${call}(${given})) {\n  console.log(${singular(noun)});\n}`
    : `console.log(await ${call}(${given}));`;
  return `import { MessagingClient } from '@conversation-messaging/client';

const client = new MessagingClient({
  baseUrl: '${BASE_URL}',
  apiKey: process.env.MESSAGING_API_KEY!,
});

${use}`;
}

/**
 * Returns the client's method for an operation: `client.messages.send` for `sendMessage` of the tag Messages.
 *
 * @param {Operation} operation
 */
export function clientMethodOf({ operationId, tags }) {
  if (operationId === 'getMe') return 'client.me';
  const [tag = ''] = tags;
  const noun = tag.replace(/(?:^|\s+)(\w)/g, (_, /** @type {string} */ letter) => letter.toUpperCase());
  const method = operationId.replace(noun, '').replace(noun.replace(/s$/, ''), '');
  return `client.${noun.charAt(0).toLowerCase()}${noun.slice(1)}.${method}`;
}

/** @param {string} noun */
const singular = (noun) => noun.replace(/s$/, '');

/**
 * Returns a value as TypeScript on one line if that is short.
 *
 * @param {unknown} value
 */
function literal(value) {
  const short = JSON.stringify(value, null, 1)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/"((?:[^"\\']|\\.)*)"/g, "'$1'");
  if (short.length <= 60) return short;
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replace(/"((?:[^"\\']|\\.)*)"/g, "'$1'");
}

/**
 * @param {Operation} operation
 * @param {SampleRequest} request
 */
function python({ method, operationId }, { url, body, takesKey }) {
  const headers = [
    `"Authorization": f"Bearer {os.environ['MESSAGING_API_KEY']}"`,
    ...(takesKey ? [`"Idempotency-Key": "${keyOf(operationId)}"`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const lines = [
    ...(body === undefined ? [] : ['import json']),
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    `    headers={${headers.length === 1 ? headers[0] : `\n        ${headers.join(',\n        ')},\n    `}},`,
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body)}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    '    print(answer.read().decode())',
  ];
  return lines.join('\n');
}

/** @param {unknown} value */
function pythonLiteral(value) {
  return JSON.stringify(value, null, 1)
    .replace(/\s*\n\s*/g, ' ')
    .replace(
      /([:[{,] )(true|false|null)(?=[,\s}\]])/g,
      (_, /** @type {string} */ before, /** @type {string} */ word) =>
        before + { true: 'True', false: 'False', null: 'None' }[/** @type {'true'} */ (word)],
    );
}

/**
 * Returns the `Idempotency-Key` of an operation's samples: `contact-1` for `createContact`.
 *
 * @param {string} operationId
 */
function keyOf(operationId) {
  const thing = operationId.replace(/^[a-z]+/, '').replace(/(?<!^)[A-Z]/g, '-$&');
  return `${thing.toLowerCase()}-1`;
}
