// The built service's OpenAPI document, and what the reference reads in it.
import { Config } from '#dist/config/config.js';
import { readOpenApiDocuments } from '#dist/app/create-app.js';

/**
 * @typedef {import('@nestjs/swagger').OpenAPIObject} Document
 * @typedef {Record<string, unknown>} Json
 * @typedef {string | number | boolean | null} Scalar
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string | string[]} [type]
 * @property {string} [description]
 * @property {string} [format]
 * @property {Scalar[]} [enum]
 * @property {Scalar} [const]
 * @property {Scalar} [example]
 * @property {Schema} [items]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema[]} [allOf]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {boolean | Schema} [additionalProperties]
 * @property {Scalar} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @typedef {object} Parameter
 * @property {string} [$ref]
 * @property {string} name
 * @property {string} in
 * @property {boolean} [required]
 * @property {string} [description]
 * @property {Schema} schema
 * @typedef {{ schema: Schema, example?: unknown, examples?: Record<string, { value: unknown }> }} Media
 * @typedef {{ $ref?: string, description?: string, content?: Record<string, Media> }} Body
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {string} summary
 * @property {string} [description]
 * @property {string[]} tags
 * @property {Record<string, string[]>[]} [security]
 * @property {Parameter[]} [parameters]
 * @property {Body} [requestBody]
 * @property {Record<string, Body>} responses
 */

/** @returns {Promise<Document>} */
export async function readDocument() {
  // Nothing is connected: the addresses need only be of the right form.
  const config = Config.from({
    DATABASE_URL: 'postgresql://localhost/none',
    REDIS_URL: 'redis://localhost',
    SECRETS_KEYS: `docs:${Buffer.alloc(32).toString('base64')}`,
  });
  const { api } = await readOpenApiDocuments(config);
  return api;
}

/**
 * Returns what a node says, even if it is a reference.
 *
 * @template {{ $ref?: string }} Node
 * @param {Document} document
 * @param {Node} node
 * @returns {Node}
 */
export function resolve(document, node) {
  if (!node.$ref) return node;
  const parts = node.$ref.replace('#/', '').split('/');
  let found = /** @type {unknown} */ (document);
  for (const part of parts) found = /** @type {Json} */ (found)[part];
  return resolve(document, /** @type {Node} */ (found));
}

/**
 * Returns the operations of a tag, or of all, each with its method and path.
 *
 * @param {Document} document
 * @returns {(Operation & { method: string, path: string })[]}
 */
export function operationsOf(document) {
  const order = ['get', 'post', 'patch', 'put', 'delete'];
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => order.includes(method))
      .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
      .map(([method, operation]) => ({
        .../** @type {Operation} */ (operation),
        method: method.toUpperCase(),
        path,
      })),
  );
}

/**
 * Returns the fields of a schema as rows: those of nested objects under their path.
 *
 * @param {Document} document
 * @param {Schema} schema
 * @param {string} [prefix]
 * @returns {{ name: string, type: string, isRequired: boolean, description: string }[]}
 */
export function fieldsOf(document, schema, prefix = '') {
  const merged = mergedSchema(document, schema);
  return Object.entries(merged.properties ?? {}).flatMap(([key, property]) => {
    const field = mergedSchema(document, property);
    const name = prefix + key;
    const row = {
      name,
      type: typeOf(document, field),
      isRequired: merged.required?.includes(key) ?? false,
      description: [field.description, limitsOf(field)].filter(Boolean).join(' '),
    };
    const item = field.items && mergedSchema(document, field.items);
    const below = field.properties
      ? fieldsOf(document, field, `${name}.`)
      : item?.properties
        ? fieldsOf(document, item, `${name}[].`)
        : [];
    return [row, ...below];
  });
}

/**
 * @param {Document} document
 * @param {Schema} schema
 * @returns {Schema}
 */
export function mergedSchema(document, schema) {
  const resolved = resolve(document, schema);
  const parts = [...(resolved.allOf ?? []), ...(resolved.anyOf ?? []), ...(resolved.oneOf ?? [])];
  const own = { ...resolved, allOf: undefined, anyOf: undefined, oneOf: undefined };
  const merged = parts.map((part) => mergedSchema(document, part));
  const types = [...new Set([own, ...merged].flatMap(({ type }) => type ?? []))];
  return Object.assign({}, ...merged, own, types.length > 0 ? { type: types } : {});
}

/**
 * Returns a schema's type in words, with its values if they are listed.
 *
 * @param {Document} document
 * @param {Schema} schema
 * @returns {string}
 */
export function typeOf(document, schema) {
  const merged = mergedSchema(document, schema);
  const values = merged.enum ?? (merged.const === undefined ? undefined : [merged.const]);
  const types = [merged.type ?? []].flat();
  const isNullable = types.includes('null') || values?.includes(null);
  const named = types.filter((type) => type !== 'null').map((type) => nameOf(document, merged, type));
  const listed = values?.filter((value) => value !== null).map((value) => `\`${String(value)}\``);
  return [
    ...(listed?.length ? listed : named.length > 0 ? named : ['any']),
    ...(isNullable ? ['null'] : []),
  ].join(' or ');
}

/**
 * @param {Document} document
 * @param {Schema} schema
 * @param {string} type
 */
function nameOf(document, schema, type) {
  if (type === 'array') return `list of ${schema.items ? typeOf(document, schema.items) : 'any'}`;
  return schema.format === 'date-time' ? 'date and time' : type;
}

/** @param {Schema} schema */
function limitsOf({ minimum, maximum, maxLength, default: value }) {
  return [
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}.` : '',
    maxLength !== undefined ? `At most ${maxLength} characters.` : '',
    value !== undefined ? `Default: \`${String(value)}\`.` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
