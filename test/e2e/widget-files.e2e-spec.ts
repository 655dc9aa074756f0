import { readdirSync, readFileSync } from 'node:fs';
import { request, IncomingHttpHeaders } from 'node:http';
import { resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { errorBody } from '../support/errors';
import { readDocuments } from '../support/openapi-documents';
import { TestService } from '../support/service';

const BUILD = resolve(__dirname, '../../dist/widget');
const CHUNKS = readdirSync(`${BUILD}/assets`);
const FILES = ['v1.js', ...CHUNKS.map((chunk) => `assets/${chunk}`)];

const SHORT = 'public, max-age=300, stale-while-revalidate=86400';
const FOREVER = 'public, max-age=31536000, immutable';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Body of the answer as it was sent, still compressed. */
  bytes: Buffer;
}

describe("the widget's files", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });
  afterAll(() => service.close());

  /** Requests a path below `/widget/`, which is sent unchanged. */
  function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    const { hostname, port } = new URL(service.baseUrl);
    return new Promise((done, fail) => {
      request({ hostname, port, path: `/widget/${path}`, headers, method }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () =>
          done({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
        );
      })
        .once('error', fail)
        .end();
    });
  }

  const built = (path: string) => readFileSync(`${BUILD}/${path}`);

  it.each(FILES)('%s is sent as it was built, for pages of any origin', async (path) => {
    const { status, headers, bytes } = await get(path, { origin: 'https://shop.example' });
    expect(status).toBe(200);
    expect(bytes).toEqual(built(path));
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(bytes.length),
      'cache-control': path === 'v1.js' ? SHORT : FOREVER,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect(headers).not.toHaveProperty('content-encoding');
  });

  it.each(FILES)('%s is sent compressed to a client that reads it', async (path) => {
    const browser = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(browser.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
    expect(brotliDecompressSync(browser.bytes)).toEqual(built(path));
    const other = await get(path, { 'accept-encoding': 'gzip, br;q=0' });
    expect(other.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(other.bytes)).toEqual(built(path));
    expect(browser.bytes.length).toBeLessThan(other.bytes.length);
    expect(other.bytes.length).toBeLessThan(built(path).length);
  });

  it.each(FILES)('%s is not sent again to who has it', async (path) => {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { etag = '' } = (await get(path, { 'accept-encoding': encoding })).headers;
      const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': etag });
      expect(again.status).toBe(304);
      expect(again.bytes).toHaveLength(0);
      expect(again.headers).toMatchObject({
        etag,
        vary: 'Accept-Encoding',
        'access-control-allow-origin': '*',
      });
      const another = encoding === 'br' ? 'gzip' : 'br';
      expect((await get(path, { 'accept-encoding': another, 'if-none-match': etag })).status).toBe(200);
    }
  });

  it('are described to HEAD', async () => {
    const { headers } = await get('v1.js', { 'accept-encoding': 'br' });
    const { status, bytes, ...head } = await get('v1.js', { 'accept-encoding': 'br' }, 'HEAD');
    expect(status).toBe(200);
    expect(bytes).toHaveLength(0);
    const { etag, 'content-length': length, 'cache-control': cacheControl } = headers;
    expect(head.headers).toMatchObject({ etag, 'content-length': length, 'cache-control': cacheControl });
  });

  it("stand in for another build's, for a moment", async () => {
    const chunk = CHUNKS.find((name) => name.startsWith('app-'))!;
    const { status, headers, bytes } = await get('assets/app-00000000.js');
    expect(status).toBe(200);
    expect(bytes).toEqual(built(`assets/${chunk}`));
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each([
    '',
    'v2.js',
    'v1.js.br',
    'assets/',
    'assets/other-00000000.js',
    'assets/..%2fv1.js',
    'assets/../../package.json',
    'assets/..%2f..%2fmain.js',
    'assets/%00',
    'assets/%zz',
    '..%2fmain.js',
  ])('are all that is below /widget/: not "%s"', async (path) => {
    const { status, headers, bytes } = await get(path);
    expect(status).toBe(404);
    expect(JSON.parse(String(bytes))).toEqual(
      errorBody('NOT_FOUND', expect.stringMatching(/^(File not found|No such path)\.$/)),
    );
    expect(headers['cache-control']).toBe('no-store');
  });

  it('can only be read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await get('v1.js', {}, method)).status).toBe(404);
  });

  it('are no part of the OpenAPI documents', async () => {
    const { paths: documented } = (await readDocuments(service.baseUrl)) as { paths: object };
    const paths = Object.keys(documented);
    expect(paths.filter((path) => path.startsWith('/widget'))).toEqual([]);
  });
});
