import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { readMultipart } from '../../../test/support/simulators/simulated-files';
import { makeMultipart } from './multipart';

describe('makeMultipart', () => {
  const bytes = Buffer.from('a\r\n--b\r\n\0ü');
  const file = (more: object = {}) => ({
    field: 'file',
    name: 'Brief "ü"\r\nX: y.pdf',
    contentType: 'application/pdf',
    size: bytes.length,
    content: Readable.from([bytes]),
    ...more,
  });

  it('makes a body of the declared length with fields and the file', async () => {
    const { headers, content } = makeMultipart({ type: 'application/pdf' }, file());
    const body = await buffer(content);
    expect(headers['content-length']).toBe(String(body.length));
    expect(readMultipart(headers['content-type']!, body)).toEqual({
      type: 'application/pdf',
      file: {
        name: 'Brief %22ü%22%0D%0AX: y.pdf',
        type: 'application/pdf',
        size: bytes.length,
        sha256: expect.any(String),
      },
    });
  });

  it('writes nothing after the file until that is permitted', async () => {
    const refused = new Error('refused');
    const { headers, content } = makeMultipart({}, file(), () => Promise.reject(refused));
    const chunks: Buffer[] = [];
    content.on('data', (chunk: Buffer) => chunks.push(chunk));
    await expect(new Promise((_, reject) => content.once('error', reject))).rejects.toBe(refused);
    expect(Buffer.concat(chunks).length).toBeLessThan(Number(headers['content-length']));
    expect(readMultipart(headers['content-type']!, Buffer.concat(chunks))).toBeNull();
  });

  it.each([1, -1])('ends with an error if the file has %s byte more than its size', async (more) => {
    const { content } = makeMultipart({}, file({ size: bytes.length - more }));
    await expect(buffer(content)).rejects.toThrow('has not the');
  });
});
