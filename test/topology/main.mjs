import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { requireValue } from '../../scripts/processes.mjs';
import { TOPOLOGIES } from './topologies.mjs';

const JEST = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('../../jest.system.cjs', import.meta.url));

// Runs Jest once for each topology, or for those that the arguments name.
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in TOPOLOGIES));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(TOPOLOGIES).join(', ')}`);
  process.exit(1);
}
for (const name of names.length > 0 ? names : Object.keys(TOPOLOGIES)) {
  console.log(`\nTopology: ${name}\n`);
  const { tests } = requireValue(TOPOLOGIES[name], `topology ${name}`);
  const env = { ...process.env, TOPOLOGY: name };
  const jest = spawn(process.execPath, [JEST, '--config', CONFIG, ...tests], { env, stdio: 'inherit' });
  const [code] = await once(jest, 'exit');
  if (code !== 0) process.exitCode = 1;
}
