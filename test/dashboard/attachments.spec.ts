import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { Answer, Browser, TestDashboard } from '../support/test-dashboard';

const ATTACHMENTS_ORIGIN = 'https://files.example.com';
/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);

describe('files in the inbox', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let apart: TestDashboard;
  let workspace: WorkspaceEntity;
  let browser: Browser;
  let conversation: { id: string };

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
    apart = await TestDashboard.create(service.stores, { ATTACHMENTS_ORIGIN });
  });

  beforeEach(async () => {
    workspace = await service.make.workspace();
    browser = await dashboard.logIn(await service.make.agent(workspace));
    conversation = await service.make.conversation(workspace);
  });

  const pathOf = (path: string) => `/api/workspaces/${workspace.id}${path}`;

  async function upload(name: string, bytes: Buffer): Promise<Answer> {
    const input = { conversationId: conversation.id, name, size: bytes.length };
    const { status, body } = await browser.post(pathOf('/uploads'), input);
    expect(status).toBe(201);
    return browser.putBytes(pathOf(`/uploads/${body.id}/content`), bytes);
  }

  async function attach(name: string, bytes: Buffer): Promise<{ id: string; kind: string }> {
    const { body: made } = await upload(name, bytes);
    const reply = { attachments: [{ uploadId: made.id, caption: 'The label' }] };
    const { status, body } = await browser.post(pathOf(`/conversations/${conversation.id}/messages`), reply);
    expect(status).toBe(201);
    return body.message.attachments[0];
  }

  const contentOf = (id: string, query = '') => pathOf(`/attachments/${id}/content${query}`);

  it('are uploaded, sent with a caption, and shown by their kind', async () => {
    const attachment = await attach('parcel.png', PNG);
    expect(attachment).toMatchObject({ kind: 'IMAGE', state: 'READY', width: 1, caption: 'The label' });
    const { status, headers } = await browser.get(contentOf(attachment.id));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline; filename=parcel.png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const saved = await browser.get(contentOf(attachment.id, '?save=yes'));
    expect(saved.headers['content-disposition']).toBe('attachment; filename=parcel.png');
    const small = await browser.get(contentOf(attachment.id, '?variant=rendition'));
    expect(small.status).toBe(200);
    const page = await browser.get(pathOf(`/conversations/${conversation.id}/messages`));
    expect(page.body.data[0]).toMatchObject({ isDescribed: true, attachments: [{ id: attachment.id }] });
  });

  it('run nothing, whatever they call themselves', async () => {
    const { id, kind } = await attach('photo.png', Buffer.from('<svg onload="alert(1)"></svg>'));
    const { headers } = await browser.get(contentOf(id));
    expect(kind).toBe('FILE');
    expect(headers['content-disposition']).toBe('attachment; filename=photo.png');
  });

  it('are taken as bytes from the own page alone', async () => {
    const input = { conversationId: conversation.id, name: 'a.txt', size: 1 };
    const { body } = await browser.post(pathOf('/uploads'), input);
    const path = pathOf(`/uploads/${body.id}/content`);
    const other = { 'content-type': 'application/octet-stream', 'sec-fetch-site': 'cross-site' };
    expect((await browser.send('PUT', path, 'a', other)).status).toBe(403);
    const form = { 'content-type': 'multipart/form-data' };
    expect((await browser.send('PUT', path, 'a', form)).status).toBe(400);
    expect((await browser.putBytes(path, Buffer.from('a'))).status).toBe(200);
    const bytes = { 'content-type': 'application/octet-stream' };
    expect((await browser.send('POST', pathOf('/uploads'), '{}', bytes)).status).toBe(400);
  });

  it('of a colleague can be neither filled nor deleted', async () => {
    const input = { conversationId: conversation.id, name: 'a.txt', size: 1 };
    const { body } = await browser.post(pathOf('/uploads'), input);
    const colleague = await dashboard.logIn(await service.make.agent(workspace));
    const missing = { status: 404, body: errorBody('NOT_FOUND', 'Upload not found.') };
    const path = pathOf(`/uploads/${body.id}`);
    expect(await colleague.putBytes(`${path}/content`, Buffer.from('a'))).toMatchObject(missing);
    expect(await colleague.delete(path)).toMatchObject(missing);
    expect((await browser.delete(path)).status).toBe(204);
    expect(await browser.delete(path)).toMatchObject(missing);
  });

  it('have the limits of each channel', async () => {
    const { body } = await browser.get(pathOf('/uploads/limits'));
    expect(body).toMatchObject({
      maxFiles: 10,
      channels: { WHATSAPP: { forms: { image: { maxBytes: 5 * 1024 * 1024 } } } },
    });
  });

  describe('at an origin of their own', () => {
    let away: Browser;

    beforeEach(async () => {
      away = await apart.logIn(await service.make.agent(workspace));
    });

    const linkOf = async (id: string, query = '') => {
      const { status, headers } = await away.get(contentOf(id, query));
      expect(status).toBe(302);
      const { origin, pathname } = new URL(String(headers['location']));
      expect(origin).toBe(ATTACHMENTS_ORIGIN);
      return pathname;
    };
    const open = (path: string) => apart.browser.get(path, { host: 'files.example.com' });
    const missing = { status: 404, body: errorBody('NOT_FOUND', 'File not found.') };

    it('are opened by a link, without a cookie', async () => {
      const { id } = await attach('parcel.png', PNG);
      const answer = await open(await linkOf(id));
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'image/png',
        'cross-origin-resource-policy': 'cross-origin',
      });
      const saved = await open(await linkOf(id, '?save=yes'));
      expect(saved.headers['content-disposition']).toContain('attachment');
    });

    it('are not opened by a link that is five minutes old, or that somebody has changed', async () => {
      const { id } = await attach('parcel.png', PNG);
      const link = await linkOf(id);
      const [payload = '', signature] = link.split('/').at(-1)!.split('.');
      const content = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { endsAt: number };
      const later = JSON.stringify({ ...content, endsAt: content.endsAt + 60_000 });
      const forged = `${Buffer.from(later).toString('base64url')}.${signature}`;
      for (const token of [forged, payload, `${payload}.`, 'x', '..x', encodeURIComponent('é.é')])
        expect(await open(`/attachments/${token}`)).toMatchObject(missing);
      const now = jest.spyOn(Date, 'now').mockReturnValue(content.endsAt);
      try {
        expect(await open(link)).toMatchObject(missing);
      } finally {
        now.mockRestore();
      }
      expect((await open(link)).status).toBe(200);
    });

    it('are not opened by a link once its session has ended', async () => {
      const { id } = await attach('parcel.png', PNG);
      const link = await linkOf(id);
      expect((await away.post('/api/logout')).status).toBeLessThan(300);
      expect(await open(link)).toMatchObject(missing);
    });

    it('have nothing but links there, and no link at the pages', async () => {
      const { id } = await attach('parcel.png', PNG);
      const link = await linkOf(id);
      expect((await open('/')).status).toBe(421);
      expect((await open('/api/session')).status).toBe(421);
      expect((await apart.browser.get(link)).status).toBe(421);
    });

    it('are allowed to the pages as pictures, audio and video alone', async () => {
      const policy = String((await apart.browser.get('/api/session')).headers['content-security-policy']);
      expect(policy).toContain(`img-src 'self' ${ATTACHMENTS_ORIGIN} data:;`);
      expect(policy).toContain(`media-src 'self' ${ATTACHMENTS_ORIGIN};`);
      expect(policy).toContain("connect-src 'self';");
    });
  });

  it('of another workspace are not found', async () => {
    const { id } = await attach('parcel.png', PNG);
    const other = await service.make.workspace();
    const stranger = await dashboard.logIn(await service.make.agent(other));
    const path = `/api/workspaces/${other.id}/attachments/${id}/content`;
    expect((await stranger.get(path)).status).toBe(404);
  });
});
