// Runs npm scripts side by side. Each argument is one, or several that run in turn: `lint build:a,build:b`.
import { spawn } from 'node:child_process';
import { printFault, requireUnix } from './processes.mjs';

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

/**
 * Runs scripts in turn, until one fails.
 *
 * @param {string[]} names
 * @returns {Promise<boolean>} whether all succeeded
 */
async function runInTurn(names) {
  for (const name of names) if (!(await run(name))) return false;
  return true;
}

try {
  requireUnix(process.platform);
} catch (error) {
  printFault(error);
  process.exit(1);
}
console.log(`Running ${process.argv.slice(2).join(' beside ').replaceAll(',', ', ')}`);
const succeeded = await Promise.all(process.argv.slice(2).map((names) => runInTurn(names.split(','))));
if (succeeded.includes(false)) process.exitCode = 1;
