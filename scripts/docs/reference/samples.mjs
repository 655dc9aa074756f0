// Samples of an operation: the same request by curl, by the client for TypeScript, and in Python with its
// standard library. A test runs them.
import { resolve } from './document.mjs';

/** @typedef {import('./document.mjs').Operation & { method: string, path: string }} Operation */

/** Address in the samples. A page of the site shows its own in its place. */
export const BASE_URL = 'http://localhost:3000';
const PAGE_SIZE = 20;
/** File that the samples send and receive, and the conversation of its upload. */
const FILE = 'parcel.jpg';
const CONVERSATION_ID = '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11';

/**
 * Request of a sample: values for the path, the query and the body.
 *
 * @typedef {object} SampleRequest
 * @property {string} url
 * @property {string[]} ids
 * @property {Record<string, unknown>} query
 * @property {unknown} body
 * @property {'bytes' | 'form' | undefined} file how it sends a file, if it does
 * @property {boolean} takesKey whether it takes an `Idempotency-Key`
 * @property {boolean} returnsFile
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
export function sampleRequest(document, { path, parameters = [], requestBody, responses }) {
  const content = requestBody && resolve(document, requestBody).content;
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
    body: content?.['application/json']?.example,
    file: content?.['application/octet-stream'] ? 'bytes' : content?.['multipart/form-data'] && 'form',
    returnsFile: Object.values(responses).some((answer) => resolve(document, answer).content?.['*/*']),
    takesKey: resolved.some(({ name }) => name.toLowerCase() === 'idempotency-key'),
  };
}

/**
 * @param {Operation} operation
 * @param {SampleRequest} request
 */
function curl({ method, operationId }, { url, body, file, takesKey, returnsFile }) {
  const isPlain = method === 'GET' || (method === 'POST' && (body !== undefined || file === 'form'));
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${returnsFile ? `-o ${FILE} ` : ''}'${url}'`,
    `-H "Authorization: Bearer $MESSAGING_API_KEY"`,
    ...(takesKey ? [`-H 'Idempotency-Key: ${keyOf(operationId)}'`] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
    ...(file === 'bytes' ? [`-H 'Content-Type: application/octet-stream'`, `--data-binary @${FILE}`] : []),
    ...(file === 'form' ? [`-F conversationId=${CONVERSATION_ID}`, `-F file=@${FILE}`] : []),
  ];
  return lines.join(' \\\n  ');
}

/**
 * @param {Operation} operation
 * @param {SampleRequest} request
 */
function typescript(operation, { ids, query, body, file, returnsFile }) {
  const call = clientMethodOf(operation);
  const given = [
    ...ids.map((id) => `'${id}'`),
    ...(Object.keys(query).length > 0 ? [literal(query)] : []),
    ...(body === undefined ? [] : [literal(body)]),
    ...(file === 'bytes' ? [`new Uint8Array(readFileSync('${FILE}'))`] : []),
    ...(file === 'form'
      ? [
          `{\n  conversationId: '${CONVERSATION_ID}',\n  name: '${FILE}',\n  file: new Blob([readFileSync('${FILE}')]),\n}`,
        ]
      : []),
  ].join(', ');
  const [noun] = /** @type {RegExpExecArray} */ (/[^.]+(?=\.\w+$)|me$/.exec(call));
  const isList = /\.(?:list|search)$/.test(call);
  const use = isList
    ? `for await (const ${singular(noun)} of ${call}(${given})) {\n  console.log(${singular(noun)});\n}`
    : returnsFile
      ? `const content = await ${call}(${given});\nwriteFileSync('${FILE}', new Uint8Array(await content.arrayBuffer()));`
      : `console.log(await ${call}(${given}));`;
  const imported = returnsFile ? 'writeFileSync' : file && 'readFileSync';
  return `${imported ? `import { ${imported} } from 'node:fs';\n` : ''}import { MessagingClient } from '@conversation-messaging/client';

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
function python({ method, operationId }, { url, body, file, takesKey, returnsFile }) {
  const headers = [
    `"Authorization": f"Bearer {os.environ['MESSAGING_API_KEY']}"`,
    ...(takesKey ? [`"Idempotency-Key": "${keyOf(operationId)}"`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
    ...(file === 'bytes' ? ['"Content-Type": "application/octet-stream"'] : []),
    ...(file === 'form' ? ['"Content-Type": "multipart/form-data; boundary=x"'] : []),
  ];
  const lines = [
    ...(body === undefined ? [] : ['import json']),
    'import os',
    'import urllib.request',
    '',
    ...(file ? [`with open("${FILE}", "rb") as file:`, '    content = file.read()'] : []),
    ...(file === 'form' ? PYTHON_FORM : []),
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    `    headers={${headers.length === 1 ? headers[0] : `\n        ${headers.join(',\n        ')},\n    `}},`,
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonLiteral(body)}).encode(),`]),
    ...(file ? ['    data=content,'] : []),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    ...(returnsFile
      ? [`    with open("${FILE}", "wb") as file:`, '        file.write(answer.read())']
      : ['    print(answer.read().decode())']),
  ];
  return lines.join('\n');
}

/** Lines that make a form, because the standard library has no function for it. */
const PYTHON_FORM = [
  'parts = [',
  `    ('name="conversationId"', b"${CONVERSATION_ID}"),`,
  `    ('name="file"; filename="${FILE}"', content),`,
  ']',
  'content = b"".join(',
  '    b"--x\\r\\nContent-Disposition: form-data; %s\\r\\n\\r\\n%s\\r\\n" % (head.encode(), part)',
  '    for head, part in parts',
  ') + b"--x--\\r\\n"',
];

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
