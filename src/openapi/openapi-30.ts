import type { OpenAPIObject } from '@nestjs/swagger';

type Node = Record<string, unknown>;

const VERSION = '3.0.3';
const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' };

/**
 * Converts a document of OpenAPI 3.1 to 3.0.3, for tools that cannot read 3.1. Leaves out `webhooks`, which
 * 3.0 lacks: the callback of the route that registers an endpoint describes the same requests.
 */
export function toOpenApi30({ webhooks: _, ...document }: OpenAPIObject): OpenAPIObject {
  return {
    ...(rewrite(document) as OpenAPIObject),
    openapi: VERSION,
    info: { ...document.info, license: LICENSE },
  };
}

function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewrite);
  if (typeof value !== 'object' || value === null) return value;
  const node = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, isExample(key) ? (part as unknown) : rewrite(part)]),
  );
  return nullable(node);
}

/** Reports whether a key of a schema has values in it, such as `enum`, and not further schemas. */
function isExample(key: string): boolean {
  return key === 'example' || key === 'examples' || key === 'default' || key === 'enum';
}

/** Replaces null among the types or alternatives of a schema by `nullable`, which OpenAPI 3.0 needs. */
function nullable(node: Node): Node {
  const { type, anyOf, ...rest } = node;
  if (Array.isArray(type))
    return { type: type.find((one) => one !== 'null') as string, nullable: true, ...rest };
  if (!Array.isArray(anyOf)) return node;
  const values = (anyOf as Node[]).filter((one) => one['type'] !== 'null');
  return values.length === anyOf.length ? node : { type: 'object', nullable: true, allOf: values, ...rest };
}
