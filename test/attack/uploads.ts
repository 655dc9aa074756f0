import { ORIGIN } from '../support/widget';
import { Attack, Attacker, FloodRequest } from './attacker';
import { addressOf } from './hooks';
import { FILE_QUOTA_BYTES } from './target';
import { sessionTokens } from './visitors';

const STUBBORN = { allowHalfOpen: true };
const MiB = 1024 * 1024;
/** Size of the files that lack their last byte: fewer bytes than the service demands in its first window. */
const SHORT_BYTES = 10_000;
/** Number of uploads whose contents are sent over all connections. */
const UPLOADS = 40;
/** Number of visitors who send contents. */
const VISITORS = 20;
/** Size of the file whose bytes are asked for and not read. It exceeds the system's socket buffers. */
const UNREAD_BYTES = 8 * MiB;

/** Path and headers of the requests with which an agent or a visitor uploads. */
interface Uploader {
  path: string;
  headers: Record<string, string>;
  /** Fields of a new upload that only an agent's have. */
  fields?: { conversationId: string };
}

/** Sends contents that lack their last byte, by an API key. */
async function unfinishedByKey(attacker: Attacker): Promise<void> {
  const agent = agentOf(attacker);
  const paths: string[] = [];
  for (let n = 0; n < UPLOADS; n++) paths.push(`${agent.path}/${await createUpload(attacker, agent)}`);
  await sendUnfinished(attacker, (n) => [paths[n % UPLOADS]!, agent]);
}

/** Sends contents that lack their last byte, of many visitors. */
async function unfinishedByVisitors(attacker: Attacker): Promise<void> {
  const visitors = await visitorsOf(attacker);
  const paths: string[] = [];
  for (const visitor of visitors) paths.push(`${visitor.path}/${await createUpload(attacker, visitor)}`);
  await sendUnfinished(attacker, (n) => [paths[n % paths.length]!, visitors[n % visitors.length]!]);
}

async function sendUnfinished(
  attacker: Attacker,
  uploadOf: (n: number) => [path: string, uploader: Uploader],
): Promise<void> {
  const connections = await attacker.open(attacker.sizes.manyConnections, STUBBORN);
  const unfinished = Buffer.alloc(SHORT_BYTES - 1, 'x');
  connections.forEach((connection, n) => {
    const [path, { headers }] = uploadOf(n);
    connection.send(
      headOf('PUT', `${path}/content`, { ...headers, 'x-forwarded-for': addressOf(n) }, SHORT_BYTES),
    );
    connection.send(unfinished);
  });
  await attacker.untilAnswered(connections);
}

/** Sends forms whose file never ends. */
async function endlessForms(attacker: Attacker): Promise<void> {
  const { conversationId, key } = attacker.foothold.raised;
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=b' };
  const part = (disposition: string) => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  for (const connection of connections) {
    connection.send(headOf('POST', '/api/v1/attachments', headers, 5 * MiB));
    connection.send(`${part('name="conversationId"')}${conversationId}\r\n`);
    connection.send(part('name="file"; filename="a.txt"'));
  }
  await attacker.drip(connections, 'x');
}

/**
 * Declares and sends files until the workspace's space is used up, and goes on. Checks that the workspace has
 * no more bytes than it may.
 */
async function fillsQuota(attacker: Attacker): Promise<void> {
  const agent = agentOf(attacker);
  const sizes = [MiB, 20 * MiB, 95 * MiB];
  await attacker.flood(
    (n) => ({
      method: 'POST',
      path: agent.path,
      headers: agent.headers,
      body: bodyOf(agent, sizes[n % sizes.length]!),
    }),
    { perSecond: attacker.sizes.perSecond / 4 },
  );
  const content = Buffer.alloc(MiB, 'x');
  await attacker.repeat(async () => {
    const id = await createUpload(attacker, agent, MiB).catch(() => null);
    if (id) await attacker.askOnce(putOf(agent, id, content));
  });
  const [usage] = await attacker.query<{ bytes: number }>(
    `SELECT u.bytes::float8 AS bytes FROM file_usage u JOIN conversations c USING (tenant_id) WHERE c.id = $1`,
    [attacker.foothold.raised.conversationId],
  );
  if (!usage || usage.bytes > FILE_QUOTA_BYTES)
    attacker.answers.complain(`A workspace has ${usage?.bytes} bytes of files of ${FILE_QUOTA_BYTES}`);
}

/** Asks for the bytes of a file over many connections, and reads none. */
async function unreadFiles(attacker: Attacker): Promise<void> {
  const { conversationId, key } = attacker.foothold.raised;
  const agent = agentOf(attacker);
  const uploadId = await createUpload(attacker, agent, UNREAD_BYTES);
  await attacker.askOnce(putOf(agent, uploadId, Buffer.alloc(UNREAD_BYTES, 'x')));
  const sent = await attacker.askOnce({
    method: 'POST',
    path: `/api/v1/conversations/${conversationId}/messages`,
    headers: agent.headers,
    body: JSON.stringify({ body: 'Read me', attachments: [{ uploadId }] }),
  });
  const attachmentId = sent?.body.message?.attachments?.[0]?.id as string | undefined;
  if (!attachmentId) throw new Error(`A message with a file was answered with ${JSON.stringify(sent)}`);
  const connections = await attacker.open(attacker.sizes.connections, STUBBORN);
  for (const connection of connections) {
    connection.stopReading();
    connection.send(
      `GET /api/v1/attachments/${attachmentId}/content HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n\r\n`,
    );
  }
  await attacker.wait();
}

function agentOf({ foothold: { raised } }: Attacker): Uploader {
  return {
    path: '/api/v1/uploads',
    headers: { 'x-api-key': raised.key, 'content-type': 'application/json' },
    fields: { conversationId: raised.conversationId },
  };
}

async function visitorsOf(attacker: Attacker): Promise<Uploader[]> {
  const path = `${attacker.foothold.widgetPath}/uploads`;
  const tokens = await sessionTokens(attacker, VISITORS);
  return tokens.map((token) => ({
    path,
    headers: { origin: ORIGIN, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  }));
}

async function createUpload(attacker: Attacker, uploader: Uploader, size = SHORT_BYTES): Promise<string> {
  const { path, headers } = uploader;
  const answer = await attacker.askOnce({ method: 'POST', path, headers, body: bodyOf(uploader, size) });
  if (answer?.status !== 201) throw new Error(`An upload was answered with ${answer?.status}`);
  return answer.body.id as string;
}

function bodyOf({ fields }: Uploader, size: number): string {
  return JSON.stringify({ ...fields, name: 'a.txt', contentType: 'text/plain', size });
}

function putOf({ path, headers }: Uploader, id: string, body: Buffer): FloodRequest {
  return {
    method: 'PUT',
    path: `${path}/${id}/content`,
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body,
  };
}

function headOf(method: string, path: string, headers: Record<string, string>, bytes: number): string {
  const lines = Object.entries({ host: 'x', ...headers, 'content-length': String(bytes) });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

export const UPLOADING: Attack[] = [
  { name: 'uploads: one byte short, of one key', run: unfinishedByKey },
  { name: 'uploads: one byte short, of visitors', run: unfinishedByVisitors },
  { name: 'uploads: forms without an end', run: endlessForms },
  { name: 'uploads: downloads that are not read', run: unreadFiles },
  { name: 'uploads: of a workspace without space', run: fillsQuota },
];
