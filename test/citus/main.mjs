import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLauncher } from '../../scripts/processes.mjs';
import { requireCitus } from '../../scripts/servers/citus.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const SUITES = ['\\.e2e-spec', '/test/(?!dashboard|lint|tables)[a-z-]+/[a-z-]+\\.spec'];
const SLOW = ['--config', join(ROOT, 'jest.slow.cjs')];
const SYSTEM = ['--config', join(ROOT, 'jest.system.cjs')];

// Runs the end-to-end, integration and slow tests on Citus, and then what finds out where Citus runs the
// statements that they have sent. Arguments name some of the end-to-end and integration tests instead.
const recorded = mkdtempSync(join(tmpdir(), 'messaging-statements-'));
const env = {
  ...process.env,
  TEST_CITUS: 'true',
  RECORDED_STATEMENTS: recorded,
};

await runLauncher(
  async () => {
    requireCitus();
    const named = process.argv.slice(2);
    await run('npm', ['run', '--silent', 'build']);
    await run(process.execPath, [JEST, '--maxWorkers=3', ...(named.length > 0 ? named : SUITES)]);
    if (named.length > 0) return;
    await run(process.execPath, [JEST, ...SLOW, '--maxWorkers=2']);
    await run(process.execPath, [JEST, ...SYSTEM, 'test/citus']);
  },
  { stop: () => rm(recorded, { recursive: true, force: true }) },
);

/**
 * Runs a program to its end. A failure makes the exit code 1, and the next program runs all the same.
 *
 * @param {string} command
 * @param {string[]} args
 */
async function run(command, args) {
  const child = spawn(command, args, { cwd: ROOT, env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
