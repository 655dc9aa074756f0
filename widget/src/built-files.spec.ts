import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = join(__dirname, '../../dist/widget');
const CHUNKS = readdirSync(join(FOLDER, 'assets')).map((name) => `assets/${name}`);

const gzippedBytes = (name: string) => gzipSync(readFileSync(join(FOLDER, name)), { level: 9 }).length;

describe('the built widget', () => {
  it('is small', () => {
    const loader = gzippedBytes('v1.js');
    expect(loader).toBeLessThanOrEqual(3250);
    expect(CHUNKS.map(gzippedBytes).reduce((sum, bytes) => sum + bytes, loader)).toBeLessThanOrEqual(29_000);
  });

  it('has an app and a file for each further language, under hashed names', () => {
    expect(CHUNKS.map((name) => name.replace(/-[\w-]{8}\.js$/, ''))).toEqual(['assets/app', 'assets/de']);
  });

  it('imports nothing from the app into a language: a retried app has another address', () => {
    const german = CHUNKS.find((name) => name.startsWith('assets/de-'))!;
    expect(readFileSync(join(FOLDER, german), 'utf8')).not.toMatch(/\bimport\b/);
  });
});
