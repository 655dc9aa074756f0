import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const APT = resolve(__dirname, '../../scripts/servers/apt.mjs');

/** Time that the installation of a package may take, which depends on the network. */
export const PACKAGE_INSTALL_TIMEOUT_MS = 180_000;

/** Installs a Debian package as the tests' Redis is installed, if this process has the rights. */
export function installDebianPackage(name: string): void {
  // The installation runs in another process: apt.mjs is an ES module, which Jest on Node 20 cannot load.
  const install = `import(${JSON.stringify(APT)}).then((apt) => apt.installPackage(${JSON.stringify(name)}, console.error))`;
  execFileSync(process.execPath, ['-e', install], { stdio: 'inherit' });
}
