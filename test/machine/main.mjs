// `npm run test:machine`: runs the README's two commands on a Debian with Node and npm alone, as root and as
// a user without lists of packages. It needs root, debootstrap and a network. `-- demo` picks one command.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUITE = process.env.SUITE ?? 'bookworm';
const MIRROR = process.env.MIRROR ?? 'http://deb.debian.org/debian';
const USER = { name: 'tester', id: 1000 };
/** File systems of this machine that the commands see. */
const MOUNTED = ['proc', 'sys', 'dev'];
/** Files of this machine by which its network is reached. */
const NETWORK = ['etc/resolv.conf', 'etc/hosts', 'etc/ssl/certs', 'usr/local/share/ca-certificates'];

const COMMANDS = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^npm install .* && (npm .*)$/gm),
].map(([command, last]) => (last === 'npm run demo' ? `${command} -- --once` : command));

if (process.getuid?.() !== 0 || spawnSync('debootstrap', ['--version']).status !== 0) {
  console.log('Skipped: this needs root and debootstrap (apt-get install debootstrap).');
  process.exit();
}
if (COMMANDS.length !== 2) throw new Error(`The README has ${COMMANDS.length} commands.`);

const chosen = COMMANDS.filter((command) => command.includes(process.argv[2] ?? ''));
const machine = mkdtempSync('/var/tmp/messaging-machine-');
chmodSync(machine, 0o755);
let failed = 0;
try {
  make();
  for (const user of [null, USER.name]) for (const command of chosen) run(command, user);
} finally {
  remove();
}
console.log(`${2 * chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** Makes the machine, with Node, npm and a clone of this repository for each user. */
function make() {
  execute('debootstrap', '--variant=minbase', '--include=ca-certificates', SUITE, machine, MIRROR);
  const npm = resolve(dirname(realpathSync(which('npm'))), '..');
  cpSync(process.execPath, join(machine, 'usr/local/bin/node'));
  cpSync(npm, join(machine, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(machine, 'usr/local/bin/npm'));
  for (const path of NETWORK.filter((one) => existsSync(`/${one}`))) {
    // A link there may lead to the file itself.
    rmSync(join(machine, path), { recursive: true, force: true });
    cpSync(`/${path}`, join(machine, path), { recursive: true, dereference: true });
  }
  for (const name of MOUNTED) execute('mount', '--bind', `/${name}`, join(machine, name));
  execute('chroot', machine, 'useradd', '--create-home', '--uid', String(USER.id), USER.name);
  for (const home of ['root', `home/${USER.name}`]) {
    const checkout = join(machine, home, 'checkout');
    execute('git', 'clone', '--quiet', '--local', '--no-hardlinks', ROOT, checkout);
  }
  execute('chroot', machine, 'chown', '--recursive', `${USER.name}:`, `/home/${USER.name}`);
  mkdirSync(join(machine, 'var/lib/apt/lists/partial'), { recursive: true });
}

/** Removes the machine, unless a file system of this machine is still mounted there. */
function remove() {
  for (const name of MOUNTED.toReversed()) spawnSync('umount', ['--lazy', join(machine, name)]);
  if (readFileSync('/proc/mounts', 'utf8').includes(machine)) {
    console.log(`${machine} is left, because file systems are mounted in it.`);
    return;
  }
  rmSync(machine, { recursive: true, force: true });
}

/**
 * @param {string} command
 * @param {string | null} user null for root
 */
function run(command, user) {
  const home = user ? `/home/${user}` : '/root';
  // An image of Debian comes without lists, and a user cannot fetch any.
  rmSync(join(machine, 'var/lib/apt/lists'), { recursive: true, force: true });
  console.log(`\n${user ?? 'root'}: ${command}`);
  const startedAt = Date.now();
  const { status } = spawnSync(
    'chroot',
    [
      ...(user ? [`--userspec=${user}:${user}`] : []),
      machine,
      '/bin/sh',
      '-c',
      `cd ${home}/checkout && ${command}`,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        HOME: home,
        PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
        ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
      },
    },
  );
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(
    `\n${user ?? 'root'}: ${command}: ${status === 0 ? 'passed' : `failed (${status})`} in ${seconds} s`,
  );
  if (status !== 0) failed += 1;
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function execute(command, ...args) {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** @param {string} command */
function which(command) {
  return execFileSync('which', [command], { encoding: 'utf8' }).trim();
}
