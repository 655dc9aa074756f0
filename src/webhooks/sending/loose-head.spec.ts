import { LooseHead } from './loose-head';

const tidied = (...chunks: string[]) => {
  const head = new LooseHead();
  return chunks.map((chunk) => head.tidy(Buffer.from(chunk, 'latin1')).toString('latin1')).join('');
};

describe('LooseHead', () => {
  it.each([
    ['a CR within a line', ['HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n'], 'HTTP/1.1 200 OK\r\nx: a b\r\n\r\n'],
    ['several CRs at its end', ['HTTP/1.1 200 OK\r\r\r\n\r\n'], 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a status line in pieces', [...'http/1.1  204 \n\n'], 'HTTP/1.1 204 \r\n\r\n'],
    ['an empty line before it', ['\r', '\nHTTP/1.0 200 OK\n\n'], 'HTTP/1.1 200 OK\r\n\r\n'],
    ['what is no HTTP as it is', ['SSH-2.0-x\r\n'], 'SSH-2.0-x\r\n'],
  ])('reads %s', (_, chunks, expected) => expect(tidied(...chunks)).toBe(expected));

  it('ends soon for many CRs', () => {
    const line = `x${'\r'.repeat(120 * 1024)}x`;
    expect(tidied('HTTP/1.1 200 OK\n', line, '\n')).toBe('HTTP/1.1 200 OK\r\n');
  }, 5_000);
});
