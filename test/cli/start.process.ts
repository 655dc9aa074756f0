import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { CLI, TestCli } from '../support/test-cli';

const COUNTER = resolve(__dirname, '../support/count-files.cjs');

/** Tests of the files that a command reads: reading them is most of the time that it takes. */
describe('the CLI reads', () => {
  const countFiles = (env: NodeJS.ProcessEnv, ...args: string[]): number => {
    const output = execFileSync(process.execPath, ['--require', COUNTER, CLI, ...args], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });
    return Number(/(\d+) files$/.exec(output.trim())![1]);
  };

  it.each([[['--help']], [['webhook', 'create', '--help']]])('a few files for %j', (args) => {
    expect(countFiles({}, ...args)).toBeLessThanOrEqual(6);
  });

  it('the chunks of its bundle for a command', async () => {
    const cli = await TestCli.start();
    try {
      expect(countFiles(cli.env, 'workspace', 'list')).toBeLessThan(200); // 1,900 without the bundle
    } finally {
      await cli.stop();
    }
  }, 90_000);
});
