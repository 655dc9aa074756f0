import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../processes.mjs';

const APT_GET = '/usr/bin/apt-get';
/**
 * Makes dpkg leave the services of a package out. The launchers start its program themselves, and an
 * installed service would run beside them, and again after each boot.
 */
const WITHOUT_SERVICES = ['/etc/init.d/*', '/lib/systemd/system/*', '/usr/lib/systemd/system/*'].flatMap(
  (path) => ['-o', `DPkg::Options::=--path-exclude=${path}`],
);

/** Tells whether this process can install Debian packages: it is root, and there is apt-get. */
export function canInstall() {
  return process.getuid?.() === 0 && existsSync(APT_GET);
}

/**
 * Installs a Debian package without its services, if this process is root and has apt-get.
 *
 * @param {string} name
 * @param {(line: string) => void} onLog
 * @returns {boolean} whether it is installed now; a failure of apt-get goes to `onLog`
 */
export function installPackage(name, onLog) {
  if (!canInstall()) return false;
  onLog(`Installing ${name} with apt-get`);
  const install = ['install', '--yes', '--no-install-recommends', ...WITHOUT_SERVICES, name];
  return isSuccess(aptGet(['update'], onLog)) && isSuccess(aptGet(install, onLog));
}

/**
 * Downloads a Debian package, with those that it needs and this machine lacks, and unpacks them into a
 * folder. Any user may do so: nothing is installed or started, and the lists of packages are the folder's.
 *
 * @param {string} name
 * @param {string} folder made by this; every user may read it
 * @param {(line: string) => void} onLog
 * @returns {boolean} whether the folder has the package now; a failure goes to `onLog`
 */
export function unpackPackage(name, folder, onLog) {
  if (!existsSync(APT_GET)) return false;
  onLog(`Downloading ${name} into ${folder}`);
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    const unpacked = join(work, 'unpacked');
    if (!download(name, work, onLog)) return false;
    mkdirSync(unpacked, { mode: 0o755 });
    const archives = readdirSync(work).filter((file) => file.endsWith('.deb'));
    for (const archive of archives)
      if (!isSuccess(run('dpkg-deb', ['--extract', join(work, archive), unpacked], { onLog }))) return false;
    rmSync(folder, { recursive: true, force: true });
    renameSync(unpacked, folder);
    return true;
  } catch (error) {
    // Another launcher has made the folder meanwhile.
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) return true;
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Downloads a package, and those that it needs and this machine lacks.
 *
 * @param {string} name
 * @param {string} work folder for the lists of packages and for the downloaded files
 * @param {(line: string) => void} onLog
 */
function download(name, work, onLog) {
  for (const path of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(work, path), { recursive: true });
  const own = [
    ['Dir::State::Lists', join(work, 'lists')],
    ['Dir::Cache', join(work, 'cache')],
    // Root would download as a user who cannot write into the folder.
    ['APT::Sandbox::User', ''],
  ].flatMap(([setting, value]) => ['-o', `${setting}=${value}`]);
  if (!isSuccess(aptGet([...own, 'update'], onLog))) return false;
  const plan = aptGet([...own, 'install', '--simulate', '--no-install-recommends', name], onLog);
  if (!isSuccess(plan)) return false;
  const names = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map(
    ([, needed]) => /** @type {string} */ (needed),
  );
  return isSuccess(aptGet([...own, 'download', ...names], onLog, work));
}

/**
 * @param {string[]} args
 * @param {(line: string) => void} onLog
 * @param {string} [cwd]
 */
function aptGet(args, onLog, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return run(APT_GET, ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, cwd, onLog });
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string | undefined, onLog: (line: string) => void }} options
 */
function run(command, args, { onLog, ...options }) {
  const result = spawnSync(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  if (result.status !== 0) onLog(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  return result;
}

/** @param {{ status: number | null }} result */
function isSuccess({ status }) {
  return status === 0;
}
