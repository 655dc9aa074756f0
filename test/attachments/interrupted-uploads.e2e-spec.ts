import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FileStore } from '../../src/attachments/store/file-store';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TestWidget } from '../support/widget';
import { letTimePass, waitFor } from '../support/wait';

const MEBIBYTE = 1024 * 1024;
const CONTENT = Buffer.from('{"a": 1}');

describe('uploads that are interrupted', () => {
  let service: TestService;
  let tenant: Tenant;
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const sockets: Socket[] = [];

  beforeAll(async () => {
    const env = {
      HTTP_HEAD_TIMEOUT_MS: '1000',
      HTTP_BODY_TIMEOUT_MS: '1000',
      WORKSPACE_FILE_MEBIBYTES: '1',
      FILE_STORE_DIRECTORY: folder,
    };
    service = await TestService.create({ role: 'all', env });
  });
  beforeEach(async () => {
    tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const begin = async (size = CONTENT.length): Promise<string> => {
    const upload = { conversationId: tenant.conversation.id, name: 'a.json', size };
    return (await tenant.client.post('/uploads', upload)).body.id as string;
  };
  const put = (id: string, raw = CONTENT) =>
    tenant.client.send({
      method: 'PUT',
      path: `/api/v1/uploads/${id}/content`,
      raw,
      headers: { 'content-type': 'application/octet-stream' },
    });
  const stateOf = async (id: string) => (await tenant.client.get(`/uploads/${id}`)).body.state as string;
  const incomplete = () => {
    const path = join(folder, 'incomplete');
    return existsSync(path) ? readdirSync(path) : [];
  };

  async function connectTo(): Promise<Socket & { answer: () => string }> {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    return Object.assign(socket, { answer: () => answer });
  }

  function headOf(id: string): string {
    const lines = [
      `PUT /api/v1/uploads/${id}/content HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${tenant.key.key}`,
      'content-type: application/octet-stream',
      `content-length: ${CONTENT.length}`,
    ];
    return `${lines.join('\r\n')}\r\n\r\n`;
  }

  /** Sends the head of a request and the first half of the content. */
  async function sendHalf(id: string): Promise<Socket & { answer: () => string }> {
    const socket = await connectTo();
    socket.write(headOf(id));
    socket.write(CONTENT.subarray(0, 4));
    return socket;
  }

  it('may take longer than another body', async () => {
    const id = await begin();
    const socket = await sendHalf(id);
    await letTimePass(3_500);
    socket.write(CONTENT.subarray(4));
    await waitFor('the answer', () => socket.answer().includes('"READY"'));
    expect(socket.answer()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('give no time to a later request on their connection', async () => {
    const id = await begin();
    const socket = await connectTo();
    let isClosed = false;
    socket.once('close', () => (isClosed = true));
    const later = [
      'POST /api/v1/uploads HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${tenant.key.key}`,
      'content-type: application/json',
      'content-length: 9',
    ];
    socket.write(`${headOf(id)}${CONTENT.toString()}${later.join('\r\n')}\r\n\r\n{`);
    await waitFor('the answer', () => socket.answer().includes('"READY"'));
    await waitFor('the end', () => isClosed);
  });

  it('leave nothing behind when the client goes, and can be sent again', async () => {
    const id = await begin();
    const socket = await sendHalf(id);
    await waitFor('the bytes to arrive', () => incomplete().length > 0);
    socket.destroy();
    await waitFor('the bytes to be gone', () => incomplete().length === 0);
    expect(await stateOf(id)).toBe('CREATED');
    expect((await put(id)).body.state).toBe('READY');
  });

  it('are finished by a repetition when the process was killed after it had stored the bytes', async () => {
    const id = await begin();
    const store = service.app.get(FileStore);
    await store.put({ tenantId: tenant.workspace.id, fileId: id }, Readable.from([CONTENT]));
    expect(await stateOf(id)).toBe('CREATED');
    expect((await put(id)).body).toMatchObject({ state: 'READY', size: CONTENT.length });
  });

  it('answer a second one at once with the same file', async () => {
    const id = await begin();
    const answers = await Promise.all([put(id), put(id), put(id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.sha256)).size).toBe(1);
  });

  it('take no more than the slots of their workspace, and others go on', async () => {
    for (let n = 0; n < 20; n++) await sendHalf(await begin());
    await waitFor('all to be under way', () => incomplete().length === 20);
    const refused = await put(await begin());
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    const own = tenant;
    tenant = await createTenant(service);
    expect((await put(await begin())).status).toBe(200);
    tenant = own;
    for (const socket of sockets) socket.destroy();
    await waitFor('the slots to be free', async () => (await put(await begin())).status === 200);
  });

  it('of visitors leave a tenth of the space to agents', async () => {
    const visitor = await (await TestWidget.connect(service, tenant.workspace)).visitor();
    const file = (share: number) => ({ name: 'a', size: Math.floor(share * MEBIBYTE) });
    expect((await visitor.send('POST', '/uploads', file(0.85))).status).toBe(201);
    const refused = await visitor.send('POST', '/uploads', file(0.1));
    expect([refused.status, refused.body.error.reason]).toEqual([413, 'files_full']);
    await begin(file(0.1).size);
    expect((await visitor.send('POST', '/uploads', file(0.01))).body.error.reason).toBe('files_full');
  });

  it('of a visitor count until their bytes are removed', async () => {
    const visitor = await (await TestWidget.connect(service, tenant.workspace)).visitor();
    const create = () => visitor.send('POST', '/uploads', { name: 'a', size: 1 });
    const { id } = (await create()).body;
    for (let n = 1; n < 20; n++) expect((await create()).status).toBe(201);
    expect((await create()).body.error.reason).toBe('uploads_unused');
    expect((await visitor.send('DELETE', `/uploads/${id}`)).status).toBe(204);
    const rows = () => service.query('SELECT FROM files WHERE id = $1', [id]);
    await waitFor('the bytes to be removed', async () => (await rows()).length === 0);
    expect((await create()).status).toBe(201);
  });

  it('take the space of the workspace from their beginning, and give it back', async () => {
    const half = Math.floor(0.6 * MEBIBYTE);
    const id = await begin(half);
    const upload = { conversationId: tenant.conversation.id, name: 'b', size: half };
    const refused = await tenant.client.post('/uploads', upload);
    expect([refused.status, refused.body.error.reason]).toEqual([413, 'files_full']);
    await tenant.client.delete(`/uploads/${id}`);
    await waitFor('the space', async () => (await tenant.client.post('/uploads', upload)).status === 201);
  });
});
