// Sums up the CPU profiles of `npm run bench -- --profile FOLDER`: `npm run bench:profile -- FILE…`. Prints
// the shares of busy time by package (without and with its callees) and by function. It ignores the time of
// the process's start.
import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { basename } from 'node:path';

const TOP = 25;
const IDLE = new Set(['(idle)', '(program)']);
const STARTED_AFTER_MS = 4_000;

type Frame = Profiler.ProfileNode['callFrame'];

/** A function where it was called, and from where. */
interface Call {
  frame: Frame;
  caller?: Call;
}

/** Microseconds by name. */
type Sums = Map<string, number>;

for (const file of process.argv.slice(2)) {
  const { nodes, samples = [], timeDeltas = [] } = JSON.parse(readFileSync(file, 'utf8')) as Profiler.Profile;
  const calls = callsOf(nodes);
  const inPackage: Sums = new Map();
  const underPackage: Sums = new Map();
  const inFunction: Sums = new Map();
  let [busy, at] = [0, 0];
  for (const [n, id] of samples.entries()) {
    const call = calls.get(id);
    const time = timeDeltas[n] ?? 0;
    at += time;
    if (at < STARTED_AFTER_MS * 1000 || !call || IDLE.has(call.frame.functionName)) continue;
    busy += time;
    add(inPackage, packageOf(call.frame), time);
    add(inFunction, functionOf(call.frame), time);
    for (const name of new Set(framesOf(call).map(packageOf))) add(underPackage, name, time);
  }
  console.log(`\n${basename(file)}: busy for ${Math.round(busy / 1000)} ms`);
  print('in package', inPackage, busy);
  print('in or under package', underPackage, busy);
  print('in function', inFunction, busy);
}

function callsOf(nodes: Profiler.ProfileNode[]): Map<number, Call> {
  const calls = new Map(nodes.map(({ id, callFrame }): [number, Call] => [id, { frame: callFrame }]));
  for (const { id, children = [] } of nodes) {
    for (const child of children) {
      const call = calls.get(child);
      if (call) call.caller = calls.get(id);
    }
  }
  return calls;
}

function add(sums: Sums, name: string, time: number): void {
  sums.set(name, (sums.get(name) ?? 0) + time);
}

/** Returns the frames of a call and of its callers. */
function framesOf(call: Call): Frame[] {
  const frames: Frame[] = [];
  for (let at: Call | undefined = call; at; at = at.caller) frames.push(at.frame);
  return frames;
}

/** Returns the function's npm package, or its own file in `dist`. */
function packageOf({ url, functionName }: Frame): string {
  const path = url.replace('file://', '');
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (installed) return installed;
  if (path.includes('/dist/')) return path.slice(path.indexOf('/dist/') + 1);
  return path.startsWith('node:') ? path.replace(/\/.*/, '') : path || functionName;
}

function functionOf({ functionName, url, lineNumber }: Frame): string {
  const file = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || '(anonymous)'}  ${file}${file && `:${lineNumber + 1}`}`;
}

function print(title: string, sums: Sums, busy: number): void {
  console.log(`  ${title}`);
  const rows = [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP);
  for (const [name, time] of rows)
    console.log(`  ${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`);
}
