import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runProgram } from '../support/run-program';

const DIST = resolve(__dirname, '../../dist');
const BUNDLE = join(DIST, 'bundle');

describe.each(['main', 'cli'])('the bundle of %s.js', (entry) => {
  it('loads no package a second time', async () => {
    const program = `
      process.on('exit', () => {
        process.exitCode = 0;
        require('node:fs').writeSync(3, JSON.stringify(Object.keys(require.cache)));
      });
      require(${JSON.stringify(join(DIST, `${entry}.js`))});`;
    const { stdout } = await runProgram(
      'sh',
      ['-c', '"$0" -e "$1" 3>&1 >/dev/null', process.execPath, program],
      {
        env: { PATH: process.env.PATH, DATABASE_URL: 'not an address' },
      },
    );
    const loaded = JSON.parse(stdout) as string[];
    expect(loaded).toContain(join(BUNDLE, `${entry}.js`));
    const names = loaded.flatMap((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
    expect(names.filter((name) => existsSync(join(BUNDLE, `${name}.js`)))).toEqual([]);
  });
});

it('has only characters of Latin-1, which V8 keeps in a byte each', () => {
  const chunks = readdirSync(BUNDLE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  );
  expect(chunks.length).toBeGreaterThan(50);
  // oxlint-disable-next-line no-control-regex
  const wide = chunks.filter((file) => /[^\0-\u00ff]/.test(readFileSync(join(BUNDLE, file), 'utf8')));
  expect(wide).toEqual([]);
});
