import axios from 'axios';

/** Paths of the OpenAPI documents: that of the API, and that of the channels. */
export const DOCUMENT_PATHS = ['/api/v1/openapi.json', '/channels/openapi.json'];

/**
 * Returns both documents of a service as one.
 * @throws Error when they have different components of one name
 */
export async function readDocuments(baseUrl: string): Promise<any> {
  const [api, channels] = await Promise.all(
    DOCUMENT_PATHS.map(async (path) => (await axios.get<any>(baseUrl + path, { proxy: false })).data),
  );
  const kinds = new Set([...Object.keys(api.components), ...Object.keys(channels.components)]);
  const components = [...kinds].map((kind) => [
    kind,
    merged(api.components[kind] ?? {}, channels.components[kind] ?? {}),
  ]);
  return {
    ...api,
    paths: { ...api.paths, ...channels.paths },
    components: Object.fromEntries(components) as unknown,
  };
}

function merged(one: Record<string, unknown>, other: Record<string, unknown>): object {
  for (const name of Object.keys(one))
    if (name in other && JSON.stringify(one[name]) !== JSON.stringify(other[name]))
      throw new Error(`The two documents have different components of the name ${name}`);
  return { ...one, ...other };
}

/** Returns a node of a document, or the node that it refers to. */
export function resolved(node: any, document: any): any {
  if (!node?.$ref) return node;
  const parts = (node.$ref as string).replace('#/', '').split('/');
  return parts.reduce((found, part) => found[part], document);
}
