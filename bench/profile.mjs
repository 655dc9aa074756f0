// `node bench/profile.mjs FILE…` sums up the CPU profiles of `npm run bench -- --profile FOLDER`: the shares of busy time
// by package (without and with its callees) and by function. It ignores the time of the process's start.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const TOP = 25;
const IDLE = new Set(['(idle)', '(program)']);
const STARTED_AFTER_MS = 4_000;

for (const file of process.argv.slice(2)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;

  const [inPackage, underPackage, inFunction] = [new Map(), new Map(), new Map()];
  let [busy, at] = [0, 0];
  for (const [n, id] of samples.entries()) {
    const node = byId.get(id);
    const time = timeDeltas[n];
    at += time;
    if (at < STARTED_AFTER_MS * 1000) continue;
    if (IDLE.has(node.callFrame.functionName)) continue;
    busy += time;
    add(inPackage, packageOf(node), time);
    add(inFunction, functionOf(node), time);
    for (const name of new Set(ancestry(node).map(packageOf))) add(underPackage, name, time);
  }
  console.log(`\n${basename(file)}: busy for ${Math.round(busy / 1000)} ms`);
  print('in package', inPackage, busy);
  print('in or under package', underPackage, busy);
  print('in function', inFunction, busy);
}

function add(sums, key, time) {
  sums.set(key, (sums.get(key) ?? 0) + time);
}

function ancestry(node) {
  const nodes = [];
  for (let at = node; at; at = at.parent) nodes.push(at);
  return nodes;
}

/** The function's npm package, or its own file in `dist`. */
function packageOf({ callFrame: { url, functionName } }) {
  const path = url.replace('file://', '');
  const [, installed] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  if (installed) return installed;
  if (path.includes('/dist/')) return path.slice(path.indexOf('/dist/') + 1);
  return path.startsWith('node:') ? path.split('/')[0] : path || functionName;
}

function functionOf({ callFrame: { functionName, url, lineNumber } }) {
  const file = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || '(anonymous)'}  ${file}${file && `:${lineNumber + 1}`}`;
}

function print(title, sums, busy) {
  console.log(`  ${title}`);
  const rows = [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP);
  for (const [name, time] of rows)
    console.log(`  ${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`);
}
