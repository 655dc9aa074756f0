import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeWith } from './left-out';

const ROOT = resolve(__dirname, '../..');
/** Names that `.gitignore` has too, and git's own folder. */
const IGNORED = /^(node_modules|dist|\.data|\.env|coverage|\.git|.*\.(log|tgz))$/;

/** Lists the files of this project that git does not ignore, also where git is not installed. */
export function listProjectFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) return walk('');
  return stdout.split('\n').filter((file) => file !== '' && existsSync(resolve(ROOT, file)));
}

function walk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !IGNORED.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? walk(path) : [path];
    });
}

/** Describes tests that need git. They are left out where it is missing. */
export function describeWithGit(name: string, tests: () => void): void {
  const isThere = spawnSync('git', ['--version']).status === 0;
  describeWith('git on PATH', isThere, name, tests);
}
