import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ModuleKind, transpileModule } from 'typescript';
import { PYTHON_INSTALL_TIMEOUT_MS, requirePython } from '../support/python';
import { createTenant, Route, ROUTES, Tenant } from '../support/routes';
import { TestService } from '../support/service';

/** Runs every sample of the reference, as the built site shows it, against the service. */

const ROOT = resolve(__dirname, '../..');
const REFERENCE = join(ROOT, 'dist/docs/reference');
const PAGES = join(REFERENCE, 'api');
const CLIENT = pathToFileURL(join(ROOT, 'client/dist/esm/index.js')).href;
const run = promisify(execFile);

interface Sample {
  route: Route;
  language: string;
  code: string;
}

/** Reads the samples of the built pages: three for each operation. */
function readSamples(): Sample[] {
  const pages = readdirSync(PAGES).filter((name) => name.endsWith('.md'));
  return pages.flatMap((name) =>
    readFileSync(join(PAGES, name), 'utf8')
      .split(/^## /m)
      .slice(1)
      .flatMap((part) => {
        const [, method, path] = /^\*\*(\w+)\*\* `(.*?)`$/m.exec(part)!;
        const route = ROUTES.find(
          (one) => one.method === method && one.path === path!.replace('{id}', ':id'),
        );
        if (!route) throw new Error(`The tests know no route ${method} ${path}`);
        return [...part.matchAll(/^```(sh|ts|python)\n([^]*?)^```$/gm)].map(([, language, code]) => ({
          route,
          language: language!,
          code: code!,
        }));
      }),
  );
}

describe('the samples of the reference', () => {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-samples-'));
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    requirePython();
    service = await TestService.create();
    tenant = await createTenant(service);
    writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nfail-with-body\n');
    writeFileSync(join(folder, 'parcel.jpg'), '{}');
  }, PYTHON_INSTALL_TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true }));

  const samples = readSamples();

  it('are three for each route', () => {
    const languages = samples.map(({ route, language }) => `${route.method} ${route.path} ${language}`);
    const expected = ROUTES.flatMap(({ method, path }) =>
      ['sh', 'ts', 'python'].map((language) => `${method} ${path} ${language}`),
    );
    expect(languages.sort()).toEqual(expected.sort());
  });

  it.each(
    samples.map(
      (sample) => [`${sample.route.method} ${sample.route.path}`, sample.language, sample] as const,
    ),
  )('of %s run: %s', async (_, language, sample) => {
    await runCode(language, await withRealValues(sample));
  });

  it.each(['ts', 'python'])('read the code of an error: %s', async (language) => {
    const [code] = blocksOf('errors.md', language);
    const said = await runCode(language, code!.replace('http://localhost:3000', service.baseUrl));
    expect(said).toMatch(/^NOT_FOUND Conversation not found\. [\w-]+\n$/);
  });

  it.each(['sh', 'python'])('make both signatures of the worked example: %s', async (language) => {
    const page = 'events/signatures.md';
    const [secret, body, service] = blocksOf(page, 'text').map((text) => text.trim());
    const [headers] = blocksOf(page, 'http');
    const [, id, timestamp, standard] = /id: (.*)\n.*timestamp: (.*)\n.*signature: (.*)/.exec(headers!)!;
    const values = { SECRET: secret!, BODY: body!, ID: id!, TIMESTAMP: timestamp! };
    const given =
      language === 'sh'
        ? ''
        : `from os import environ
secret, webhook_id, timestamp = environ["SECRET"], environ["ID"], environ["TIMESTAMP"]
body = environ["BODY"].encode()
`;
    const made = [];
    for (const code of blocksOf(page, language)) made.push(await runCode(language, given + code, values));
    expect(made).toEqual([
      expect.stringContaining(service!.replace('sha256=', '')),
      expect.stringContaining(standard!.replace('v1,', '')),
    ]);
  });

  /** Returns the code blocks of a page of the reference in one language. */
  const blocksOf = (page: string, language: string) =>
    [...readFileSync(join(REFERENCE, page), 'utf8').matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
      .filter(([, its]) => its === language)
      .map(([, , code]) => code!);

  /** Runs a sample, and returns what it prints. */
  async function runCode(language: string, code: string, values: Record<string, string> = {}) {
    const env = { ...process.env, MESSAGING_API_KEY: tenant.key.key, CURL_HOME: folder, ...values };
    if (language === 'sh') return (await run('bash', ['-c', code], { env, cwd: folder })).stdout;
    if (language === 'python') return (await run('python3', ['-c', code], { env, cwd: folder })).stdout;
    const { outputText } = transpileModule(code, { compilerOptions: { module: ModuleKind.ESNext } });
    const file = join(folder, 'sample.mjs');
    writeFileSync(file, outputText.replace("'@conversation-messaging/client'", `'${CLIENT}'`));
    return (await run('node', [file], { env, cwd: folder })).stdout;
  }

  /** Puts the service's address and things of the workspace in the place of the examples. */
  async function withRealValues({ route, language, code }: Sample): Promise<string> {
    const { conversation, owner, client } = tenant;
    const isOpening = route.method === 'POST' && route.path === '/api/v1/conversations';
    const contact = await client.get(`/contacts/${conversation.contact.id}`);
    const values: [example: string | RegExp, value: string][] = [
      ['http://localhost:3000', service.baseUrl],
      [/019ab3f4-[\w-]+/g, conversation.id],
      [/019ab3f2-[\w-]+/g, isOpening ? await tenant.reachContact() : conversation.contact.id],
      [/019ab3ee-[\w-]+/g, owner.id],
      // A rolled secret and a deleted endpoint are used up.
      [/019ab3f1-[\w-]+/g, code.includes('019ab3f1-') ? await tenant.makeEndpoint() : ''],
      [/019ab3f7-2a4c[\w-]+/g, code.includes('019ab3f7-2a4c') ? await tenant.makeUpload() : ''],
      [/019ab3f7-5d6e[\w-]+/g, code.includes('019ab3f7-5d6e') ? await tenant.findAttachment() : ''],
      ['2026-11-18T16:20:00.000Z', (contact.body as { updatedAt: string }).updatedAt],
      ['https://hooks.example.com/messaging', 'https://127.0.0.1:9999/hook'],
      // What the three samples of a route make must not be one thing.
      ['34600112233', `3460011223${['sh', 'ts', 'python'].indexOf(language)}`],
      [/(?<=Idempotency-Key\W+)[\w-]+/g, `${route.path}-${language}`],
      ...(isOpening ? [['WHATSAPP', 'WIDGET'] as [string, string]] : []),
    ];
    return values.reduce((text, [example, value]) => text.replaceAll(example, value), code);
  }
});
