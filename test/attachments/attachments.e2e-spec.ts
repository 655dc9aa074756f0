import { createHash } from 'node:crypto';
import { newId } from '../../src/common/ids';
import { fieldError } from '../support/errors';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP8z8Dwn4GBgYGJAQoAHRcCAk+Uzr4AAAAASUVORK5CYII=',
  'base64',
);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('attachments', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create();
  });
  beforeEach(async () => {
    tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  });

  const begin = (fields: object = {}) =>
    tenant.client.post('/uploads', {
      conversationId: tenant.conversation.id,
      name: 'parcel.png',
      contentType: 'image/png',
      size: PNG.length,
      ...fields,
    });
  const put = (id: string, raw: Buffer, headers: Record<string, string> = {}) =>
    tenant.client.send({
      method: 'PUT',
      path: `/api/v1/uploads/${id}/content`,
      raw,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
  const upload = async (content: Buffer, fields: object = {}): Promise<string> => {
    const { body } = await begin({ size: content.length, ...fields });
    expect((await put(body.id, content)).status).toBe(200);
    return body.id;
  };
  const send = (body: object) =>
    tenant.client.post(`/conversations/${tenant.conversation.id}/messages`, body);
  const content = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${service.baseUrl}${url}`, { headers: { authorization: `Bearer ${tenant.key.key}`, ...headers } });

  it('go from an upload over a message to whoever reads it', async () => {
    const { status, body: created } = await begin({ sha256: sha256(PNG) });
    expect([status, created]).toEqual([
      201,
      {
        id: expect.any(String),
        state: 'CREATED',
        name: 'parcel.png',
        size: PNG.length,
        kind: null,
        contentType: null,
        sha256: null,
        width: null,
        height: null,
        expiresAt: expect.any(String),
      },
    ]);

    const { body: ready } = await put(created.id, PNG);
    const facts = { kind: 'IMAGE', contentType: 'image/png', sha256: sha256(PNG), width: 2, height: 3 };
    expect(ready).toMatchObject({ id: created.id, state: 'READY', ...facts });

    const sent = await send({ attachments: [{ uploadId: created.id, caption: 'The label' }] });
    const attachment = {
      id: expect.any(String),
      state: 'READY',
      problem: null,
      name: 'parcel.png',
      size: PNG.length,
      durationMs: null,
      caption: 'The label',
      url: expect.any(String),
      ...facts,
    };
    expect(sent.status).toBe(201);
    expect(sent.body.message).toMatchObject({
      body: '[image]',
      isDescribed: true,
      attachments: [attachment],
    });
    const [listed] = (await tenant.client.get(`/conversations/${tenant.conversation.id}/messages`)).body.data;
    expect(listed).toEqual(sent.body.message);
    const { id, url } = listed.attachments[0];
    expect((await tenant.client.get(`/attachments/${id}`)).body).toEqual(listed.attachments[0]);

    const answer = await content(url);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': 'inline; filename=parcel.png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: `"${sha256(PNG)}"`,
    });
  });

  it('are sent in parts, or not again', async () => {
    const { body } = await send({ attachments: [{ uploadId: await upload(PNG) }] });
    const { url } = body.message.attachments[0];
    const part = await content(url, { range: 'bytes=1-3' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      'PNG',
      `bytes 1-3/${PNG.length}`,
    ]);
    const outside = await content(url, { range: 'bytes=5000-' });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${PNG.length}`]);
    expect(await outside.json()).toMatchObject({ error: { code: 'RANGE_NOT_SATISFIABLE' } });
    const known = await content(url, { 'if-none-match': `"${sha256(PNG)}"` });
    expect([known.status, await known.text()]).toEqual([304, '']);
    const changed = await content(url, { range: 'bytes=1-3', 'if-range': '"other"' });
    expect(changed.status).toBe(200);
  });

  it.each([
    ['HTML', '<!doctype html><script>alert(1)</script>', 'application/octet-stream'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', undefined],
    ['text', 'plain words', 'text/plain; charset=utf-8'],
  ])('of %s are saved, and never shown', async (_, text, type) => {
    const id = await upload(Buffer.from(text), { name: 'page.html', contentType: 'text/html' });
    const { body } = await send({ body: 'See', attachments: [{ uploadId: id }] });
    expect(body.message).toMatchObject({ body: 'See', isDescribed: false, attachments: [{ kind: 'FILE' }] });
    const { headers } = await content(body.message.attachments[0].url);
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    if (type) expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-type')).not.toMatch(/html|svg|xml/);
  });

  it('have the name that they were given, whatever it is', async () => {
    const name = `${'فاتورة '.repeat(35).trim()}.pdf`;
    const id = await upload(Buffer.from('%PDF-1.4\n%âãÏÓ'), { name });
    const { body } = await send({ attachments: [{ uploadId: id }] });
    expect(body.message.attachments[0].name).toBe(name);
    const { headers } = await content(body.message.attachments[0].url);
    expect(headers.get('content-disposition')).toContain("filename*=UTF-8''%D9%81");
  });

  it('go with their message when it is repeated under its key', async () => {
    const body = { attachments: [{ uploadId: await upload(PNG) }] };
    const path = `/conversations/${tenant.conversation.id}/messages`;
    const headers = { 'Idempotency-Key': newId() };
    const first = await tenant.client.post(path, body, headers);
    const again = await tenant.client.post(path, body, headers);
    expect(again.body).toEqual(first.body);
  });

  describe('uploads', () => {
    it('answer a repeated content as the first, and keep the first', async () => {
      const { body } = await begin();
      const first = await put(body.id, PNG);
      expect((await put(body.id, PNG)).body).toEqual(first.body);
    });

    it.each([
      ['no byte', Buffer.alloc(0), 'file_empty'],
      ['too few bytes', PNG.subarray(1), 'size_differs'],
    ])('refuse %s', async (_, bytes, code) => {
      const { body } = await begin();
      const answer = await put(body.id, bytes);
      expect([answer.status, answer.body.error.details[0].code]).toEqual([400, code]);
      expect((await tenant.client.get(`/uploads/${body.id}`)).body.state).toBe('CREATED');
    });

    it('refuse too many bytes', async () => {
      const { body } = await begin();
      const answer = await put(body.id, Buffer.concat([PNG, PNG]));
      expect([answer.status, answer.body.error.reason]).toEqual([413, 'upload_too_large']);
    });

    it('claim no pixels that no picture has', async () => {
      const forged = Buffer.from(PNG);
      forged.writeUInt32BE(0xffffffff, 16);
      const id = await upload(forged);
      const { body } = await tenant.client.get(`/uploads/${id}`);
      expect(body).toMatchObject({ state: 'READY', kind: 'IMAGE', width: null, height: null });
    });

    it('refuse content with another checksum, and take the right one then', async () => {
      const { body } = await begin({ sha256: sha256(PNG) });
      const other = Buffer.from(PNG);
      other[PNG.length - 1] = 0;
      const answer = await put(body.id, other);
      expect(answer.body.error.details).toMatchObject([{ field: 'content', code: 'checksum_differs' }]);
      expect((await put(body.id, PNG)).body.state).toBe('READY');
    });

    it('are used once, by who made them, for their conversation', async () => {
      const id = await upload(PNG);
      const attachments = [{ uploadId: id }];
      const refused = async (answer: Promise<any>) => (await answer).body.error.details[0].code;
      expect(await refused(send({ attachments: [...attachments, ...attachments] }))).toBe('upload_in_use');
      const other = await service.make.conversation(tenant.workspace);
      const elsewhere = tenant.client.post(`/conversations/${other.id}/messages`, { attachments });
      expect(await refused(elsewhere)).toBe('upload_unknown');
      expect((await send({ attachments })).status).toBe(201);
      expect(await refused(send({ attachments }))).toBe('upload_in_use');
      expect(await refused(send({ attachments: [{ uploadId: newId() }] }))).toBe('upload_unknown');
      const { body } = await begin();
      expect(await refused(send({ attachments: [{ uploadId: body.id }] }))).toBe('upload_not_ready');
    });

    it('of another workspace are not there', async () => {
      const id = await upload(PNG);
      const stranger = await createTenant(service);
      expect((await stranger.client.get(`/uploads/${id}`)).status).toBe(404);
      expect((await stranger.client.delete(`/uploads/${id}`)).status).toBe(404);
      const { body } = await send({ attachments: [{ uploadId: id }] });
      expect((await stranger.client.get(`/attachments/${body.message.attachments[0].id}`)).status).toBe(404);
    });

    it('are deleted on request, with their bytes', async () => {
      const id = await upload(PNG);
      expect((await tenant.client.delete(`/uploads/${id}`)).status).toBe(204);
      expect((await tenant.client.get(`/uploads/${id}`)).status).toBe(404);
      const answer = await send({ attachments: [{ uploadId: id }] });
      expect(answer.body.error.details[0].code).toBe('upload_expired');
    });

    it.each([
      [{ size: 0 }, 'size'],
      [{ size: 101 * 1024 * 1024 }, 'size'],
      [{ name: ' ' }, 'name'],
      [{ contentType: 'nonsense' }, 'contentType'],
      [{ sha256: 'abc' }, 'sha256'],
    ])('refuse %j', async (fields, field) => {
      const { status, body } = await begin(fields);
      expect([status, body.error.details[0].field]).toEqual([400, field]);
    });

    it('refuse what the channel never takes, before it is sent', async () => {
      const { status, body } = await begin({ size: 26 * 1024 * 1024 });
      expect([status, body.error.reason]).toEqual([413, 'too_large_for_channel']);
    });
  });

  it('need a body or an attachment', async () => {
    for (const body of [{}, { attachments: [] }])
      expect((await send(body)).body).toEqual(fieldError('INVALID_BODY', 'body', 'is required'));
    const many = Array.from({ length: 11 }, () => ({ uploadId: newId() }));
    expect((await send({ attachments: many })).status).toBe(400);
  });

  it('are gone with their message, bytes too', async () => {
    const { body } = await send({ attachments: [{ uploadId: await upload(PNG) }] });
    const [{ id, url }] = body.message.attachments;
    expect((await content(url)).status).toBe(200);
    expect((await tenant.client.get(`/attachments/${id}`)).status).toBe(200);
  });

  describe('as forms', () => {
    const post = (form: FormData, headers: Record<string, string> = {}) =>
      fetch(`${service.baseUrl}/api/v1/attachments`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${tenant.key.key}`, ...headers },
      });
    const formOf = (fields: Record<string, string>, file?: [Buffer, string, string?]): FormData => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      if (file) form.set('file', new Blob([new Uint8Array(file[0])], { type: file[2] }), file[1]);
      return form;
    };
    const ours = () => ({ conversationId: tenant.conversation.id });
    const usage = async () =>
      Number(
        (
          await service.query<any>('SELECT bytes FROM file_usage WHERE tenant_id = $1', [tenant.workspace.id])
        )[0]?.bytes ?? 0,
      );

    it('are uploads in one step, which take the space of the file alone', async () => {
      const answer = await post(formOf({ ...ours(), sha256: sha256(PNG) }, [PNG, 'صورة.png', 'image/png']));
      const upload: any = await answer.json();
      expect([answer.status, upload]).toEqual([
        201,
        expect.objectContaining({
          state: 'READY',
          name: 'صورة.png',
          size: PNG.length,
          kind: 'IMAGE',
          width: 2,
        }),
      ]);
      expect(await usage()).toBe(PNG.length);
      const sent = await send({ body: 'See', attachments: [{ uploadId: upload.id }] });
      expect([sent.status, sent.body.message.attachments[0].name]).toEqual([201, 'صورة.png']);
    });

    it.each<[string, () => FormData, number, object]>([
      ['no file', () => formOf(ours()), 400, { code: 'INVALID_BODY', details: [{ field: 'file' }] }],
      ['no conversation', () => formOf({}, [PNG, 'a']), 400, { details: [{ field: 'conversationId' }] }],
      ['another field', () => formOf({ ...ours(), x: '1' }, [PNG, 'a']), 400, { details: [{ field: 'x' }] }],
      [
        'another conversation',
        () => formOf({ conversationId: newId() }, [PNG, 'a']),
        404,
        { reason: 'not_found' },
      ],
      ['no byte', () => formOf(ours(), [Buffer.alloc(0), 'a']), 400, { details: [{ code: 'file_empty' }] }],
      [
        'too many bytes',
        () => formOf(ours(), [Buffer.alloc(10 * 1024 * 1024 + 1), 'a']),
        413,
        { reason: 'form_too_large' },
      ],
      [
        'far too many bytes',
        () => formOf(ours(), [Buffer.alloc(11 * 1024 * 1024), 'a']),
        413,
        { reason: 'form_too_large' },
      ],
      [
        'another checksum',
        () => formOf({ ...ours(), sha256: sha256(PNG) }, [Buffer.from('x'), 'a']),
        400,
        { details: [{ code: 'checksum_differs' }] },
      ],
    ])('refuse %s, and keep no space', async (_, form, status, error) => {
      const answer = await post(form());
      expect([answer.status, await answer.json()]).toMatchObject([status, { error }]);
      const left = await service.query('SELECT FROM files WHERE tenant_id = $1 AND delete_at > now()', [
        tenant.workspace.id,
      ]);
      expect(left).toEqual([]);
    });

    it('refuse a body that is no form, or ends early', async () => {
      const json = await tenant.client.post('/attachments', {});
      expect([json.status, json.body.error.code]).toEqual([400, 'INVALID_BODY']);
      const raw = Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf');
      const cut = await tenant.client.send({
        method: 'POST',
        path: '/api/v1/attachments',
        raw,
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      });
      expect([cut.status, cut.body.error.code]).toEqual([400, 'INVALID_BODY']);
    });
  });
});
