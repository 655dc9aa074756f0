// Checks, before anything is built, that a launcher may start: `node scripts/check-start.mjs [--ports]`. A
// build would replace the files of a service that runs here.
import { join } from 'node:path';
import { requireFreePorts } from './app.mjs';
import { printFault, startReaper } from './processes.mjs';
import { DATA_DIR, findHome } from './servers/home.mjs';

try {
  if (process.argv.includes('--ports')) await requireFreePorts();
  // A launcher with servers of its own holds their folder.
  const ownServers = !process.env.DATABASE_URL || !process.env.REDIS_URL;
  if (ownServers) await (await startReaper(join(findHome(DATA_DIR).directory, 'lock'))).finish();
} catch (error) {
  printFault(error);
  process.exitCode = 1;
}
