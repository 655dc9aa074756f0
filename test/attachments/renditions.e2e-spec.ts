import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

const VOICE = join(__dirname, '../fixtures/files/voice.ogg');

describe('renditions', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  });

  async function attach(name: string, content: Buffer): Promise<any> {
    const conversationId = tenant.conversation.id;
    const fields = { conversationId, name, contentType: 'audio/ogg', size: content.length };
    const { body: upload } = await tenant.client.post('/uploads', fields);
    const headers = { 'content-type': 'application/octet-stream' };
    const path = `/api/v1/uploads/${upload.id}/content`;
    expect((await tenant.client.send({ method: 'PUT', path, raw: content, headers })).status).toBe(200);
    const attachments = [{ uploadId: upload.id }];
    const { body } = await tenant.client.post(`/conversations/${conversationId}/messages`, { attachments });
    return body.message.attachments[0];
  }
  const rendered = ({ id }: { id: string }) =>
    waitFor('a rendition', async () => {
      const { body } = await tenant.client.get(`/attachments/${id}`);
      return body.renditionUrl !== null && (body as { renditionUrl: string });
    });
  const read = async (path: string) => {
    const answer = await fetch(service.baseUrl + path, {
      headers: { authorization: `Bearer ${tenant.key.key}` },
    });
    return { type: answer.headers.get('content-type'), content: Buffer.from(await answer.arrayBuffer()) };
  };

  it('of pictures are small, and leave the original as it was', async () => {
    const picture = await sharp({ create: { width: 1600, height: 1200, channels: 3, background: 'teal' } })
      .jpeg()
      .toBuffer();
    const attachment = await attach('wall.jpg', picture);
    const { renditionUrl } = await rendered(attachment);
    const { type, content } = await read(renditionUrl);
    expect(type).toBe('image/webp');
    expect(await sharp(content).metadata()).toMatchObject({ width: 640, height: 480 });
    expect((await read(attachment.url)).content).toEqual(picture);
  });

  it('of voice messages are played by every browser', async () => {
    const attachment = await attach('voice.ogg', readFileSync(VOICE));
    expect(attachment).toMatchObject({ kind: 'AUDIO', contentType: 'audio/ogg' });
    const { type, content } = await read((await rendered(attachment)).renditionUrl);
    expect([type, content.length > 20_000]).toEqual(['audio/mpeg', true]);
  });

  it('are not made of what cannot be decoded, and nothing else waits for that', async () => {
    const bomb = await sharp({
      create: { width: 10_000, height: 5_001, channels: 3, background: 'red' },
      limitInputPixels: false,
    })
      .png()
      .toBuffer();
    const { id, url } = await attach('bomb.png', bomb);
    await waitFor('the try to end', async () => {
      const [row] = await service.query<{ isOver: boolean }>(
        `SELECT rendition_due_at IS NULL AND rendition_tries > 0 AS "isOver" FROM files f
         JOIN attachments a ON a.tenant_id = f.tenant_id AND a.file_id = f.id WHERE a.id = $1`,
        [id],
      );
      return row!.isOver;
    });
    expect((await tenant.client.get(`/attachments/${id}`)).body).toMatchObject({
      state: 'READY',
      renditionUrl: null,
    });
    expect((await read(url)).content).toEqual(bomb);
  });
});
