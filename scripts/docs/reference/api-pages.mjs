// The reference of the REST API: a page of what holds for all routes, and a page a tag.
import { fieldsOf, operationsOf, resolve, typeOf } from './document.mjs';
import { samplesOf } from './samples.mjs';

/**
 * @typedef {import('./document.mjs').Document} Document
 * @typedef {import('./document.mjs').Operation & { method: string, path: string }} Operation
 * @typedef {import('../sources.mjs').Page} Page
 */

const FOLDER = 'reference/api';

/** @param {string} tag */
const pathOf = (tag) => `${FOLDER}/${tag.toLowerCase().replaceAll(' ', '-')}`;

/**
 * @param {Document} document
 * @returns {Page[]}
 */
export function apiPages(document) {
  const operations = operationsOf(document);
  const tags = (document.tags ?? []).filter(({ name }) => operations.some(({ tags: [tag] }) => tag === name));
  return [
    { path: FOLDER, source: `docs/${FOLDER}.md`, markdown: overview(document, operations) },
    ...tags.map(({ name, description = '' }) => ({
      path: pathOf(name),
      source: `docs/${pathOf(name)}.md`,
      markdown: tagPage(
        document,
        name,
        description,
        operations.filter(({ tags: [tag] }) => tag === name),
      ),
    })),
  ];
}

/**
 * @param {Document} document
 * @param {Operation[]} operations
 */
function overview(document, operations) {
  const rows = operations.map(
    ({ method, path, summary, tags: [tag = ''] }) =>
      `| \`${method}\` | [\`${path}\`](/docs/${pathOf(tag)}#${slug(summary)}) | ${summary} |`,
  );
  const description = document.info.description ?? '';
  return `# The REST API

${description.split('\n\n## ')[0]}

The document itself is OpenAPI 3.1, at \`/api/v1/openapi.json\`.

## Routes

| Method | Path | Does |
| --- | --- | --- |
${rows.join('\n')}

## ${description.split('\n\n## ').slice(1).join('\n\n## ')}
`;
}

/** @param {string} heading */
const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, '')
    .replace(/ /g, '-');

/**
 * @param {Document} document
 * @param {string} tag
 * @param {string} description
 * @param {Operation[]} operations
 */
function tagPage(document, tag, description, operations) {
  return `# ${tag}

${description}

${operations.map((operation) => operationPart(document, operation)).join('\n')}`;
}

/**
 * @param {Document} document
 * @param {Operation} operation
 */
function operationPart(document, operation) {
  const {
    method,
    path,
    summary,
    description,
    operationId,
    parameters = [],
    requestBody,
    responses,
  } = operation;
  const resolved = parameters.map((parameter) => resolve(document, parameter));
  const own = resolved.filter(({ name }) => name !== 'X-Request-Id');
  const body = requestBody && resolve(document, requestBody).content?.['application/json'];
  const answers = Object.entries(responses).map(([status, answer]) => ({
    status,
    ...resolve(document, answer),
  }));
  const success = answers.find(({ status }) => status.startsWith('2'));
  const answered = success?.content?.['application/json'];
  const errors = answers
    .filter(({ status }) => !status.startsWith('2'))
    .flatMap(({ status, content }) =>
      Object.keys(content?.['application/json']?.examples ?? {}).map((code) => ({ status, code })),
    );
  return [
    `## ${summary}`,
    '<!-- operation -->',
    `**${method}** \`${path}\``,
    description ?? '',
    scopes(operation),
    own.length > 0 ? `### Parameters\n\n${parameterTable(document, own)}` : '',
    body ? `### Body\n\n${fieldTable(document, body.schema, true)}` : '',
    answered
      ? `### Answer\n\n\`${success?.status}\`, ${typeName(answered.schema)}\n\n${fieldTable(document, answered.schema, false)}`
      : '',
    `### Errors\n\n${errors.map(({ status, code }) => `[${status} \`${code}\`](/docs/reference/errors/${code})`).join(', ')}`,
    '<!-- samples -->',
    samplesOf(document, operation),
    answered ? `Answer:\n\n\`\`\`json\n${JSON.stringify(answered.example, null, 2)}\n\`\`\`` : '',
    `<!-- try ${operationId} -->`,
    '<!-- end -->',
    '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** @param {Operation} operation */
function scopes({ security = [] }) {
  const named = [...new Set(security.flatMap((entry) => entry['bearer'] ?? []))];
  if (named.length === 0) return 'Scope: any valid key.';
  return `Scope: ${named.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

/** @param {import('./document.mjs').Schema} schema */
const typeName = ({ $ref }) => ($ref ? `\`${$ref.split('/').at(-1)}\`` : 'an object');

/**
 * @param {Document} document
 * @param {import('./document.mjs').Parameter[]} parameters
 */
function parameterTable(document, parameters) {
  const rows = parameters.map(({ name, in: place, required, schema, description }) => {
    const said = description || resolve(document, schema).description || '';
    const kind = `${typeOf(document, schema)}, in the ${place}${required ? ', required' : ''}`;
    return `| \`${name}\` | ${kind}. ${inCell(said)} |`;
  });
  return `| Name | Is |\n| --- | --- |\n${rows.join('\n')}`;
}

/**
 * Returns a table of a schema's fields. In requests the required ones are marked; answers have all fields.
 *
 * @param {Document} document
 * @param {import('./document.mjs').Schema} schema
 * @param {boolean} isRequest
 */
export function fieldTable(document, schema, isRequest) {
  const rows = fieldsOf(document, schema).map(
    ({ name, type, isRequired, description }) =>
      `| \`${name}\` | ${type}${isRequest && isRequired ? ', required' : ''}. ${inCell(description)} |`,
  );
  return `| Field | Is |\n| --- | --- |\n${rows.join('\n')}`;
}

/** @param {string} text */
export const inCell = (text) => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
