import { connect, Socket } from 'node:net';
import { newId } from '../../src/common/ids';
import { eventsOf } from '../support/events';
import { Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { ORIGIN, TestVisitor, TestWidget } from '../support/widget';
import { waitFor } from '../support/wait';
import { WidgetCrowd } from '../support/widget-crowd';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PROGRAM = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]), Buffer.alloc(200)]);

describe("files of the widget's visitors", () => {
  let crowd: WidgetCrowd;
  let service: TestService;
  let tenant: Tenant;
  let widget: TestWidget;

  beforeAll(async () => {
    crowd = await WidgetCrowd.create();
    ({ service, tenant, widget } = crowd);
  });

  const conversationOf = async (visitor: TestVisitor) => (await visitor.open()).body.conversationId as string;

  it('go with a first message, to agents, the history and the stream', async () => {
    const visitor = await crowd.visitor(widget);
    const stream = await visitor.stream();
    const uploads = [await visitor.upload(PNG, { name: 'a.png' }), await visitor.upload('Invoice 7')];
    const { status, body } = await visitor.postFiles('m-1', uploads, 'It is broken');
    expect(status).toBe(201);
    const image = {
      id: expect.any(String),
      kind: 'IMAGE',
      state: 'READY',
      name: 'a.png',
      contentType: 'image/png',
      size: PNG.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      width: 1,
      height: 1,
      durationMs: null,
      caption: null,
    };
    const text = { ...image, kind: 'FILE', name: 'parcel.txt', contentType: 'text/plain', size: 9 };
    const attachments = [image, { ...text, width: null, height: null }];
    expect(body.message).toMatchObject({ body: 'It is broken', isDescribed: false, attachments });
    expect((await visitor.history()).body.data).toEqual([body.message]);
    const { data } = await stream.next('message');
    expect(data).toMatchObject({ message: body.message });
    stream.close();
    const conversationId = await conversationOf(visitor);
    const listed = await tenant.client.get(`/conversations/${conversationId}/messages`);
    const [kept] = listed.body.data as { body: string; attachments: { id: string }[] }[];
    expect(kept!.attachments.map(({ id }) => id)).toEqual(
      (body.message.attachments as { id: string }[]).map(({ id }) => id),
    );
    const events = await eventsOf(service, tenant.workspace, 'message.created');
    expect(events.filter((event) => event['conversationId'] === conversationId)).toHaveLength(1);
  });

  it('may be alone: then the body describes them, until the visitor writes a text', async () => {
    const visitor = await crowd.visitor(widget);
    const { body } = await visitor.postFiles('m-1', [await visitor.upload(PNG, { name: 'a.png' })]);
    expect(body.message).toMatchObject({ body: '[image]', isDescribed: true });
    const edited = await visitor.send('PATCH', '/messages/m-1', { body: 'The label' });
    expect(edited.body.message).toMatchObject({ body: 'The label', isDescribed: false });
    expect(edited.body.message.attachments).toEqual(body.message.attachments);
  });

  it('are attached once, whatever is repeated', async () => {
    const visitor = await crowd.visitor(widget);
    const declared = { name: 'a.png', size: PNG.length };
    const { body: upload } = await visitor.send('POST', '/uploads', declared);
    const early = await visitor.postFiles('m-0', [upload.id]);
    expect([early.status, early.body.error.details[0].code]).toEqual([400, 'upload_not_ready']);
    const first = await visitor.put(upload.id, PNG);
    const again = await visitor.put(upload.id, PNG);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    const answers = await Promise.all([1, 2, 3, 4].map(() => visitor.postFiles('m-1', [upload.id])));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.message.attachments[0].id as string)).size).toBe(1);
    const second = await visitor.postFiles('m-2', [upload.id]);
    expect([second.status, second.body.error.details[0].code]).toEqual([400, 'upload_in_use']);
    expect((await visitor.history()).body.data).toHaveLength(1);
  });

  it('are read by the visitor alone, whole and in parts, and run nowhere', async () => {
    const [visitor, other] = [await crowd.visitor(widget), await crowd.visitor(widget)];
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    const upload = await visitor.upload(svg, { name: 'صورة.svg', contentType: 'image/svg+xml' });
    const { body } = await visitor.postFiles('m-1', [upload]);
    const [{ id, kind }] = body.message.attachments;
    expect(kind).toBe('FILE');
    const whole = await visitor.content(id);
    expect([whole.status, await whole.text()]).toEqual([200, svg]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment;.*filename\*=UTF-8''/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'access-control-allow-origin': 'https://shop.example',
    });
    const part = await visitor.content(id, { range: 'bytes=1-3' });
    expect([part.status, await part.text()]).toEqual([206, 'svg']);
    const known = await visitor.content(id, { 'if-none-match': whole.headers.get('etag')! });
    expect(known.status).toBe(304);
    await other.post('m-1', 'Mine');
    for (const [reader, of] of [
      [other, id],
      [visitor, newId()],
      [visitor, 'x'],
    ] as const) {
      const refused = await reader.content(of);
      expect([refused.status, ((await refused.json()) as any).error.message]).toEqual([
        404,
        'Attachment not found.',
      ]);
    }
  });

  it("are nobody else's before they are sent", async () => {
    const [visitor, other] = [await crowd.visitor(widget), await crowd.visitor(widget)];
    const upload = await visitor.upload(PNG);
    for (const id of [upload, newId(), 'x']) {
      const taken = await other.postFiles('m-1', [id]);
      expect([taken.status, taken.body.error.details[0].code]).toEqual([400, 'upload_unknown']);
      expect((await other.put(id, PNG)).status).toBe(404);
      expect((await other.send('DELETE', `/uploads/${id}`)).status).toBe(404);
    }
    expect((await visitor.send('DELETE', `/uploads/${upload}`)).status).toBe(204);
    expect((await visitor.postFiles('m-1', [upload])).status).toBe(400);
    expect(await conversationOf(visitor)).toBeNull();
  });

  it('are refused with a reason: too large, empty, cut, a program, too many', async () => {
    const visitor = await crowd.visitor(widget);
    const create = (size: number) => visitor.send('POST', '/uploads', { name: 'a', size });
    expect((await create(25 * 1024 * 1024 + 1)).body.error).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      reason: 'too_large_for_channel',
    });
    expect((await create(0)).status).toBe(400);
    const { id } = (await create(5)).body;
    expect((await visitor.put(id, Buffer.from('1234'))).body.error.details[0].code).toBe('size_differs');
    expect((await visitor.put(id, Buffer.from('123456'))).body.error.reason).toBe('upload_too_large');
    const program = await visitor.upload(PROGRAM, { name: 'cute.png', contentType: 'image/png' });
    const refused = await visitor.postFiles('m-1', [program]);
    expect([refused.status, refused.body.error.details[0].code]).toEqual([400, 'file_type_refused']);
    const eleven = Array.from({ length: 11 }, newId);
    expect((await visitor.postFiles('m-1', eleven)).status).toBe(400);
    expect(
      (await visitor.send('POST', '/messages', { clientMessageId: 'm-1', attachments: [] })).status,
    ).toBe(400);
    expect((await visitor.history()).body.data).toEqual([]);
  });

  it('take three slots of their visitor at most, and none of the agents', async () => {
    const visitor = await crowd.visitor(widget);
    const begin = async (content: string): Promise<string> => {
      const file = { name: 'parcel.txt', size: content.length };
      return (await visitor.send('POST', '/uploads', file)).body.id as string;
    };
    const { hostname, port } = new URL(service.baseUrl);
    const stopped: Socket[] = [];
    for (let n = 0; n < 3; n++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      stopped.push(socket);
      socket.write(
        `PUT ${widget.path}/uploads/${await begin('whole')}/content HTTP/1.1\r\nhost: localhost\r\n` +
          `origin: ${ORIGIN}\r\nauthorization: Bearer ${visitor.token}\r\n` +
          'content-type: application/octet-stream\r\ncontent-length: 5\r\n\r\nwho',
      );
    }
    const id = await begin('next');
    const probe = await begin('probe');
    const put = () => visitor.put(id, Buffer.from('next'));
    try {
      await waitFor('the slots to be taken', async () => {
        return (await visitor.put(probe, Buffer.from('probe'))).status === 429;
      });
      const refused = await put();
      expect(refused.status).toBe(429);
      expect(refused.body.error.message).toMatch(/^Too many uploads of this visitor at once\./);
      const other = await crowd.visitor(widget);
      expect(await other.upload('mine')).toEqual(expect.any(String));
    } finally {
      for (const socket of stopped) socket.destroy();
    }
    await waitFor('a slot to be free', async () => (await put()).status === 200);
  });

  it('are 20 at most that no message has taken, however many are begun at once', async () => {
    const visitor = await crowd.visitor(widget);
    /** Begins an upload, again while the service is busy with as many requests. */
    const begin = () =>
      waitFor('an answer', async () => {
        const answer = await visitor.send('POST', '/uploads', { name: 'a', size: 1 });
        return answer.status !== 429 && answer;
      });
    const taken = await visitor.upload('1');
    const answers = await Promise.all(Array.from({ length: 24 }, begin));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.error.reason])).toEqual(
      Array.from({ length: 5 }, () => [413, 'uploads_unused']),
    );
    expect(await (await crowd.visitor(widget)).upload('1')).toEqual(expect.any(String));
    expect((await visitor.postFiles('m-1', [taken])).status).toBe(201);
    expect([(await begin()).status, (await begin()).status]).toEqual([201, 413]);
  });

  it('have 250 MiB at most until messages take them', async () => {
    const visitor = await crowd.visitor(widget);
    const begin = (mebibytes: number) =>
      visitor.send('POST', '/uploads', { name: 'a', size: mebibytes * 1024 * 1024 });
    for (let n = 0; n < 9; n++) expect((await begin(25)).status).toBe(201);
    expect((await begin(24)).status).toBe(201);
    const refused = await begin(2);
    expect([refused.status, refused.body.error.reason]).toEqual([413, 'uploads_unused']);
    expect((await begin(1)).status).toBe(201);
  });

  it('are gone with a message that the visitor takes back', async () => {
    const visitor = await crowd.visitor(widget);
    const { body } = await visitor.postFiles('m-1', [await visitor.upload(PNG)]);
    const unsent = await visitor.send('DELETE', '/messages/m-1');
    expect(unsent.body.message).toMatchObject({ body: '', attachments: [] });
    expect((await visitor.content(body.message.attachments[0].id)).status).toBe(404);
  });

  it("of agents reach the visitor's stream", async () => {
    const visitor = await crowd.visitor(widget);
    await visitor.post('m-1');
    const conversationId = await conversationOf(visitor);
    const { body: upload } = await tenant.client.post('/uploads', {
      conversationId,
      name: 'a.png',
      size: PNG.length,
    });
    await tenant.client.send({
      method: 'PUT',
      path: `/api/v1/uploads/${upload.id}/content`,
      raw: PNG,
      headers: { 'content-type': 'application/octet-stream' },
    });
    const sent = await tenant.client.post(`/conversations/${conversationId}/messages`, {
      attachments: [{ uploadId: upload.id, caption: 'The new one' }],
    });
    expect(sent.status).toBe(201);
    await service.query(`UPDATE messages SET delivery_status = 'SENT' WHERE id = $1`, [sent.body.message.id]);
    const [message] = (await visitor.history()).body.data;
    expect(message).toMatchObject({
      senderType: 'AGENT',
      attachments: [{ kind: 'IMAGE', caption: 'The new one' }],
    });
    expect(Buffer.from(await (await visitor.content(message.attachments[0].id)).arrayBuffer())).toEqual(PNG);
  });

  it('are announced to pages by the preflight', async () => {
    const url = `${service.baseUrl}${widget.path}/uploads/${newId()}/content`;
    const { status, headers } = await fetch(url, { method: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toContain('PUT');
  });
});
