import type { OpenAPIObject } from '@nestjs/swagger';

type Node = Record<string, unknown>;

const VERSION = '3.0.3';
const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' };

/**
 * Returns a document of OpenAPI 3.1 in the words of 3.0, for tools that stop there. Webhooks are not among
 * these: the callback of the route that registers an endpoint describes them.
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

/** Reports whether a key has values of users, which have no schema in them. */
function isExample(key: string): boolean {
  return key === 'example' || key === 'examples' || key === 'default' || key === 'enum';
}

/** Says `nullable` where 3.1 has null among the types or alternatives. */
function nullable(node: Node): Node {
  const { type, anyOf, ...rest } = node;
  if (Array.isArray(type))
    return { type: type.find((one) => one !== 'null') as string, nullable: true, ...rest };
  if (!Array.isArray(anyOf)) return node;
  const values = (anyOf as Node[]).filter((one) => one['type'] !== 'null');
  return values.length === anyOf.length ? node : { type: 'object', nullable: true, allOf: values, ...rest };
}
