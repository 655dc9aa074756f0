import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/**
 * Makes dpkg leave the services of a package out. The launchers start its program themselves, and an
 * installed service would run beside them, and again after each boot.
 */
const WITHOUT_SERVICES = ['/etc/init.d/*', '/lib/systemd/system/*', '/usr/lib/systemd/system/*'].flatMap(
  (path) => ['-o', `DPkg::Options::=--path-exclude=${path}`],
);

/**
 * Installs a Debian package without its services, if this process is root and has apt-get.
 *
 * @param {string} name
 * @param {(line: string) => void} onLog
 * @returns {boolean} whether it is installed now; a failure of apt-get goes to `onLog`
 */
export function installPackage(name, onLog) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  onLog(`Installing ${name} with apt-get`);
  const install = ['install', '--yes', '--no-install-recommends', ...WITHOUT_SERVICES, name];
  return aptGet(['update'], onLog) && aptGet(install, onLog);
}

/**
 * @param {string[]} args
 * @param {(line: string) => void} onLog
 */
function aptGet(args, onLog) {
  const { status, stdout, stderr } = spawnSync(
    '/usr/bin/apt-get',
    ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args],
    {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    },
  );
  if (status !== 0) onLog(`apt-get ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return status === 0;
}
