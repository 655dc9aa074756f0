import { Tenant } from './routes';

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP8z8Dwn4GBgYGJAQoAHRcCAk+Uzr4AAAAASUVORK5CYII=',
  'base64',
);
/** Beginning of a JPEG, by which its type is known. */
export const JPEG = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.alloc(4000, 7),
  Buffer.from('ffd9', 'hex'),
]);
export const PDF = Buffer.from(
  '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n',
);

/** Uploads a file for a conversation. Returns the upload's id. */
export async function uploadTo(
  { client }: Tenant,
  conversationId: string,
  name: string,
  content: Buffer,
): Promise<string> {
  const created = await client.post('/uploads', { conversationId, name, size: content.length });
  if (created.status !== 201) throw new Error(`The upload was answered with ${created.status}`);
  const path = `/api/v1/uploads/${created.body.id}/content`;
  const headers = { 'content-type': 'application/octet-stream' };
  const stored = await client.send({ method: 'PUT', path, raw: content, headers });
  if (stored.status !== 200) throw new Error(`The bytes were answered with ${stored.status}`);
  return created.body.id as string;
}
