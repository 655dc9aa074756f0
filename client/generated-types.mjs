import openapiTS, { astToString } from 'openapi-typescript';

/**
 * Body of a request or of an answer, with what is read of it.
 *
 * @typedef {object} Body
 * @property {string} [description]
 * @property {boolean} [required]
 * @property {Record<string, { schema?: object }>} [content]
 *
 * Operation of a document, with what is read of it.
 *
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {{ in?: string }[]} [parameters]
 * @property {Body} [requestBody]
 * @property {Record<string, Body>} responses
 *
 * OpenAPI document of the service, with what is read of it.
 *
 * @typedef {object} Document
 * @property {string} openapi
 * @property {object} info
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{ schemas?: object }} components
 */

const BEGINNING = `// Generated from the service's OpenAPI document: npm run generate:client.
`;

/**
 * Returns the text of src/generated/openapi.ts for a document of the service.
 *
 * @param {Document} document
 * @returns {Promise<string>}
 */
export async function generateTypes(document) {
  const types = await openapiTS(/** @type {import('openapi-typescript').OpenAPI3} */ (reduced(document)), {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    // A field with a default may be left out.
    defaultNonNullable: false,
  });
  return BEGINNING + astToString(types);
}

/**
 * Returns a document with what the client's types need alone: the client sets and reads headers itself, and
 * has one type for every error.
 *
 * @param {Document} document
 * @returns {unknown}
 */
function reduced({ openapi, info, paths, components }) {
  const items = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => [
      method,
      reducedOperation(operation),
    ]);
    return [path, Object.fromEntries(operations)];
  });
  return { openapi, info, paths: Object.fromEntries(items), components: { schemas: components.schemas } };
}

/** @param {Operation} operation */
function reducedOperation({ operationId, parameters = [], requestBody, responses }) {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return {
    operationId,
    parameters: parameters.filter((parameter) => parameter.in === 'path' || parameter.in === 'query'),
    ...(requestBody && { requestBody: reducedBody(requestBody) }),
    responses: Object.fromEntries(successes.map(([status, response]) => [status, reducedBody(response)])),
  };
}

/**
 * Returns a body without headers and examples: the document has them for people.
 *
 * @param {Body} body
 */
function reducedBody({ content = {}, description, required }) {
  const types = Object.entries(content).map(([type, { schema }]) => [type, { schema }]);
  return { description, required, content: Object.fromEntries(types) };
}
