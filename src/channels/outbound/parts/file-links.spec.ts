import { Config } from '../../../config/config';
import { newId } from '../../../common/ids';
import { FileLinks } from './file-links';

describe('FileLinks', () => {
  const key = (id: string) => ({ id, key: Buffer.alloc(32, id) });
  const links = (...ids: string[]) =>
    new FileLinks({ secretsKeys: ids.map(key), publicUrl: 'https://shop.example' } as unknown as Config);
  const linked = { tenantId: newId(), attachmentId: newId() };
  const tokenOf = (url: string) => url.slice('https://shop.example/channels/files/'.length);

  it('names the file under any configured key', () => {
    const token = tokenOf(links('a').make(linked));
    expect(links('b', 'a').read(token)).toEqual(linked);
    expect(links('b').read(token)).toBeNull();
  });

  it('expires after ten minutes', () => {
    expect(links('a').read(tokenOf(links('a').make(linked, Date.now() - 9 * 60_000)))).toEqual(linked);
    expect(links('a').read(tokenOf(links('a').make(linked, Date.now() - 10 * 60_000 - 1)))).toBeNull();
  });

  it('names no other file, and lasts no longer, by a change of the token', () => {
    const [tenantId, , expiresAt, signature] = tokenOf(links('a').make(linked)).split('.');
    const { attachmentId } = linked;
    expect(links('a').read([tenantId, newId(), expiresAt, signature].join('.'))).toBeNull();
    expect(links('a').read([newId(), attachmentId, expiresAt, signature].join('.'))).toBeNull();
    expect(links('a').read([tenantId, attachmentId, Number(expiresAt) + 1, signature].join('.'))).toBeNull();
    expect(links('a').read('')).toBeNull();
  });
});
