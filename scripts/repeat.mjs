import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Path of the log with a row for each run, and the line before which the next row goes. */
const RECORD = join(ROOT, 'docs/project/test-runs.md');
const END_OF_ROWS = '<!-- The next run gets its row above. -->';
/** Path of the folder that keeps the whole output of each run. Git ignores it. */
const LOGS = join(ROOT, 'test-runs');
/** Number of processes that keep the processor busy beside a run. */
const SPINNERS = 2;
const MOST_FAILURES = 20;
const MOST_LINES = 60;

const HELP = `Runs .ci/run again and again, each time in a fresh clone of HEAD, and adds each run to docs/project/test-runs.md.

  --runs <n>      how many runs (default 10)
  --spinning <n>  how many of them, the last ones, have ${SPINNERS} spinning processes beside them (default 0)
  --seed <n>      the seed of every run (default: another one for each)`;

/**
 * @typedef {object} Run
 * @property {Date} begin
 * @property {string} commit
 * @property {string} seed
 * @property {boolean} isBesideSpinners
 * @property {number} minutes
 * @property {string} counts the last line of .ci/run, or what came instead of it
 * @property {boolean} hasPassed
 * @property {string[]} failures the output of each failed test
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    spinning: { type: 'string', default: '0' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const [runs, spinning] = [Number(values.runs), Number(values.spinning)];
if (values.help || !Number.isInteger(runs) || !Number.isInteger(spinning) || spinning > runs) {
  console.log(HELP);
  process.exit(values.help ? 0 : 1);
}

/**
 * Functions that stop processes and remove folders when a signal ends this process.
 *
 * @type {Set<() => void>}
 */
const ends = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const end of ends) end();
    process.exit(1);
  });
}

for (let n = 0; n < runs; n++) {
  const run = await runOnce(values.seed ?? `${Math.floor(Math.random() * 1_000_000)}`, n >= runs - spinning);
  record(run);
  console.log(`${n + 1} of ${runs}: ${run.counts} in ${run.minutes.toFixed(1)} min, SEED=${run.seed}`);
  if (!run.hasPassed) process.exitCode = 1;
}

/**
 * Clones HEAD, runs .ci/run in the clone and removes the clone.
 *
 * @param {string} seed
 * @param {boolean} isBesideSpinners
 * @returns {Promise<Run>}
 */
async function runOnce(seed, isBesideSpinners) {
  const begin = new Date();
  const commit = git('rev-parse', 'HEAD');
  const folder = mkdtempSync(join(tmpdir(), 'messaging-run-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  ends.add(removeFolder);
  git('clone', '--quiet', ROOT, folder);
  git('-C', folder, 'checkout', '--quiet', '--detach', commit);

  mkdirSync(LOGS, { recursive: true });
  const log = join(LOGS, `${begin.toISOString().replaceAll(':', '-')}.log`);
  const output = createWriteStream(log);
  const stopSpinners = isBesideSpinners ? spin() : () => undefined;
  // A process group of its own, so that its servers end with it.
  const child = spawn(resolve(folder, '.ci/run'), {
    cwd: folder,
    env: { ...process.env, SEED: seed },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const stop = () => {
    stopSpinners();
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  };
  ends.add(stop);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const [code] = /** @type {[number | null]} */ (await once(child, 'close'));
  stopSpinners();
  output.end();
  await once(output, 'close');
  removeFolder();
  ends.delete(stop);
  ends.delete(removeFolder);

  const lines = stripVTControlCharacters(readFileSync(log, 'utf8')).trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  return {
    begin,
    commit,
    seed,
    isBesideSpinners,
    minutes: (Date.now() - begin.getTime()) / 60_000,
    counts: /^\d+ passed, \d+ failed$/.test(last) ? last : `ended with ${code}`,
    hasPassed: code === 0,
    failures: code === 0 ? [] : failuresIn(lines),
  };
}

/**
 * Returns the block of each failed test in Jest's output, or the end of the output if no test failed.
 *
 * @param {string[]} lines
 * @returns {string[]}
 */
function failuresIn(lines) {
  /** @type {Map<string, string[]>} Jest repeats them at its end: by their first line, each once. */
  const blocks = new Map();
  /** @type {string[] | null} */
  let block = null;
  for (const line of lines) {
    if (/^ {2}● /.test(line)) {
      block = blocks.has(line) ? [] : [line];
      if (block.length > 0) blocks.set(line, block);
    } else if (/^(PASS|FAIL|Test Suites:|Summary of all) ?/.test(line)) block = null;
    else block?.push(line);
  }
  const failures = [...blocks.values()];
  if (failures.length === 0) failures.push(lines.slice(-MOST_LINES));
  return failures.slice(0, MOST_FAILURES).map((each) => each.slice(0, MOST_LINES).join('\n').trimEnd());
}

/**
 * Adds a run's row to the table of docs/project/test-runs.md, and the output of its failed tests to the end
 * of the file.
 *
 * @param {Run} run
 */
function record({ begin, commit, seed, isBesideSpinners, minutes, counts, failures }) {
  const at = `${begin.toISOString().slice(0, 16).replace('T', ' ')}`;
  const beside = isBesideSpinners ? `${SPINNERS} spinning` : '';
  const row = `| ${at} | ${commit.slice(0, 9)} | ${seed} | ${beside} | ${minutes.toFixed(1)} | ${counts} |`;
  let page = readFileSync(RECORD, 'utf8').replace(END_OF_ROWS, () => `${row}\n${END_OF_ROWS}`);
  if (failures.length > 0) {
    page += `\n## ${at}, SEED=${seed}\n`;
    for (const failure of failures) page += `\n\`\`\`text\n${failure.replaceAll('```', "'''")}\n\`\`\`\n`;
  }
  // A kill at this moment leaves the old page or the new one, never a part.
  writeFileSync(`${RECORD}.new`, page);
  renameSync(`${RECORD}.new`, RECORD);
}

/**
 * Starts SPINNERS processes that each keep a core busy, so that a run gets little of a machine with two
 * cores. They end with this process, however it ends.
 *
 * @returns {() => void} ends them
 */
function spin() {
  const source = `process.on('disconnect', () => process.exit());
    (function spin() { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(spin); })();`;
  const children = Array.from({ length: SPINNERS }, () =>
    spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
  );
  return () => children.forEach((child) => child.kill());
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
