import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const APT = resolve(__dirname, '../../scripts/servers/apt.mjs');

/** Installing one takes as long as the network does. */
export const PACKAGE_INSTALL_TIMEOUT_MS = 180_000;

/** Installs a Debian package, as the tests' Redis is, where this process may. */
export function installDebianPackage(name: string): void {
  // A process of its own: apt.mjs is an ES module, which Jest on Node 20 cannot load.
  const install = `import(${JSON.stringify(APT)}).then((apt) => apt.installPackage(${JSON.stringify(name)}, console.error))`;
  execFileSync(process.execPath, ['-e', install], { stdio: 'inherit' });
}
