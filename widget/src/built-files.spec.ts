import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = join(__dirname, '../../dist/widget');
const CHUNKS = readdirSync(join(FOLDER, 'assets')).map((name) => `assets/${name}`);

const gzippedBytes = (name: string) => gzipSync(readFileSync(join(FOLDER, name)), { level: 9 }).length;

describe('the built widget', () => {
  it('is small', () => {
    const loader = gzippedBytes('v1.js');
    expect(loader).toBeLessThanOrEqual(3300);
    const [app, german, fileParts, mailForm] = CHUNKS.map(gzippedBytes) as [number, number, number, number];
    expect(loader + app + german).toBeLessThanOrEqual(33_300);
    expect(fileParts).toBeLessThanOrEqual(4096);
    expect(mailForm).toBeLessThanOrEqual(1500);
  });

  it('has an app, each further language, the parts that draw files and the form for an address, under hashed names', () => {
    expect(CHUNKS.map((name) => name.replace(/-[\w-]{8}\.js$/, ''))).toEqual([
      'assets/app',
      'assets/de',
      'assets/files',
      'assets/mail',
    ]);
  });

  it("lacks Vite's function around dynamic imports", () => {
    const app = CHUNKS.find((name) => name.startsWith('assets/app-'))!;
    expect(readFileSync(join(FOLDER, app), 'utf8')).not.toContain('preload');
  });

  it('imports nothing from the app into other files: a retried app has another address', () => {
    for (const name of CHUNKS.filter((one) => !one.startsWith('assets/app-')))
      expect(readFileSync(join(FOLDER, name), 'utf8')).not.toMatch(/\bimport\b/);
  });
});
