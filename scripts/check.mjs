import { spawn } from 'node:child_process';

/** npm scripts that need nothing of each other. */
const SCRIPTS = ['lint', 'build'];

/**
 * Runs an npm script and prints what it said once it has ended, so that the lines of two do not mix.
 *
 * @param {string} name
 * @returns {Promise<boolean>} whether it succeeded
 */
async function run(name) {
  const begin = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part));
  const code = await new Promise((ended) => {
    child.once('error', (error) => {
      said.push(Buffer.from(`${error.message}\n`));
      ended(1);
    });
    child.once('close', ended);
  });
  process.stdout.write(Buffer.concat(said));
  const seconds = ((performance.now() - begin) / 1_000).toFixed(0);
  console.log(`${name}: ${code === 0 ? 'passed' : 'failed'} in ${seconds} s`);
  return code === 0;
}

const succeeded = await Promise.all(SCRIPTS.map(run));
if (succeeded.includes(false)) process.exitCode = 1;
