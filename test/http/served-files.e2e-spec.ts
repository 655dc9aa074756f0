import { readdirSync, readFileSync } from 'node:fs';
import { request, IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { errorBody } from '../support/errors';
import { readDocuments } from '../support/openapi-documents';
import { TestService } from '../support/service';

/** Tests of the files that an API process serves: the widget's and the documentation's. */

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

let service: TestService;

beforeAll(async () => {
  service = await TestService.create();
});

/** Requests a path, which is sent unchanged. */
function send(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { hostname, port } = new URL(service.baseUrl);
  return new Promise((done, fail) => {
    request({ hostname, port, path, headers, method }, (response) => {
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

describe("the widget's files", () => {
  const get = (path: string, ...rest: [Record<string, string>?, string?]) => send(`/widget/${path}`, ...rest);
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

describe('the documentation', () => {
  const FOLDER = resolve(__dirname, '../../dist/docs');
  const NAMES = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(FOLDER.length + 1));
  const built = (name: string) => readFileSync(join(FOLDER, name));
  /** Returns the address of a file: a page's has no extension, and that of the first page no name. */
  const addressOf = (name: string) => `/docs/${name.replace(/\.html$/, '')}`.replace(/\/index$/, '');
  /** Returns what a tag of HTML has under a name, for all tags. */
  const valuesOf = (html: string, attribute: string) =>
    [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value]) => value!);

  it('is where the address of the service leads', async () => {
    const { status, headers } = await send('/');
    expect([status, headers.location]).toEqual([302, '/docs']);
  });

  it('has all pages', () => {
    expect(NAMES.length).toBeGreaterThan(50);
  });

  it.each(NAMES)('%s is sent as it was built, smaller to who reads it compressed', async (name) => {
    const plain = await send(addressOf(name));
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect(plain.bytes).toEqual(built(name));
    expect(plain.headers['cache-control']).toBe(name.startsWith('assets/') ? FOREVER : 'public, no-cache');
    if (name.endsWith('.png')) return;
    const small = await send(addressOf(name), { 'accept-encoding': 'gzip, br' });
    expect(small.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(small.bytes)).toEqual(built(name));
    expect(gunzipSync((await send(addressOf(name), { 'accept-encoding': 'gzip' })).bytes)).toEqual(
      built(name),
    );
    const { etag = '' } = small.headers;
    const again = await send(addressOf(name), { 'accept-encoding': 'gzip, br', 'if-none-match': etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it('may load, ask and hold nothing that is not from here, and runs no script of a page', async () => {
    const { headers } = await send('/docs');
    const policy = Object.fromEntries(
      (headers['content-security-policy'] as string).split('; ').map((part) => part.split(' ', 2)),
    );
    const own = "'self'";
    expect(policy).toEqual({
      'default-src': "'none'",
      ...Object.fromEntries(['script', 'style', 'img', 'connect'].map((kind) => [`${kind}-src`, own])),
      ...Object.fromEntries(['base-uri', 'form-action', 'frame-ancestors'].map((name) => [name, "'none'"])),
      'require-trusted-types-for': "'script'",
    });
    for (const name of NAMES.filter((one) => one.endsWith('.html'))) {
      const html = built(name).toString();
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style="| on\w+="/);
      for (const address of valuesOf(html, 'src')) expect(address).toMatch(/^\/docs\/assets\//);
    }
  });

  it('leads nowhere but to pages, headings and files that exist', () => {
    for (const name of NAMES.filter((one) => one.endsWith('.html'))) {
      const html = built(name).toString();
      const links = [...valuesOf(html, 'href'), ...valuesOf(html, 'src'), ...valuesOf(html, 'data-search')];
      for (const link of new Set(links)) {
        const { origin, pathname, hash } = new URL(link, `http://here${addressOf(name)}`);
        if (origin !== 'http://here') continue;
        const file = NAMES.find((one) => addressOf(one) === pathname);
        expect([name, link, file]).toEqual([name, link, expect.any(String)]);
        if (hash)
          expect([link, valuesOf(built(file!).toString(), 'id')]).toEqual([
            link,
            expect.arrayContaining([decodeURIComponent(hash.slice(1))]),
          ]);
      }
    }
  });

  it('is listed for language models, each page as Markdown', async () => {
    const list = (await send('/docs/llms.txt')).bytes.toString();
    const pages = [...list.matchAll(/\]\((\/docs\/[^)]+\.md)\)/g)].map(([, path]) => path!);
    expect(pages.length).toBeGreaterThan(20);
    for (const path of pages) {
      const { headers, bytes } = await send(path);
      expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
      expect(bytes.toString()).toMatch(/^# /);
    }
  });

  it.each(['none', 'start/none', 'assets/', '..%2fmain.js', 'index.html.br', '%00', 'a/../../package.json'])(
    'has a page for what it does not have: "%s"',
    async (path) => {
      const page = await send(`/docs/${path}`, { accept: 'text/html' });
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      const error = await send(`/docs/${path}`);
      expect(error.status).toBe(404);
      expect(JSON.parse(error.bytes.toString())).toEqual(errorBody('NOT_FOUND', expect.any(String)));
      expect(error.headers['cache-control']).toBe('no-store');
    },
  );
});
