import { Schema } from './document-types';

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Rewrites a schema into forms that generators of typed clients understand. A union of constants becomes an
 * enumeration, and a union with null becomes a type that may be null. `patternProperties` becomes
 * `additionalProperties`. A constant that is not a string becomes its type.
 */
export function typedSchema(schema: object): Schema {
  return rewrite(schema) as Schema;
}

function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!isNode(value)) return value;
  const { const: constant, anyOf, patternProperties, ...rest } = value;
  const node = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, rewrite(part)]));
  if (patternProperties) node['additionalProperties'] = true;
  if (typeof constant === 'string') node['enum'] = [constant];
  if (anyOf) Object.assign(node, joined((anyOf as unknown[]).map(rewrite) as Node[]));
  return node;
}

/**
 * Joins the alternatives of a union into one schema if they are constants of one type, or a type and null.
 */
function joined(alternatives: Node[]): Node {
  const values = alternatives.filter(({ type }) => type !== 'null');
  const [first] = values as [Node];
  const isEnumeration = values.every((one) => 'enum' in one && one['type'] === first['type']);
  if (!isEnumeration && (values.length > 1 || '$ref' in first)) return { anyOf: alternatives };
  const enumeration = isEnumeration ? values.flatMap((one) => one['enum'] as unknown[]) : undefined;
  if (values.length === alternatives.length) return { ...first, enum: enumeration };
  const type = [first['type'], 'null'];
  return enumeration ? { type, enum: [...enumeration, null] } : { ...first, type };
}
