import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { canInstall, installPackage } from '../../scripts/servers/apt.mjs';
import { describeWith } from './left-out';

const ROOT = resolve(__dirname, '../..');

/** Time that `requirePython()` may take to install Python, which depends on the network. */
export const PYTHON_INSTALL_TIMEOUT_MS = 180_000;

/** Describes tests that need `python3`. They are left out where it is missing and cannot be installed. */
export function describeWithPython(name: string, tests: () => void): void {
  describeWith('python3 on PATH', hasPython() || canInstall(), name, () => {
    beforeAll(requirePython, PYTHON_INSTALL_TIMEOUT_MS);
    tests();
  });
}

/**
 * Makes sure that `python3` is on PATH: where it is missing, root installs it on Debian and Ubuntu.
 * @throws Error with advice
 */
export function requirePython(): void {
  if (hasPython()) return;
  installPackage('python3', console.error);
  if (!hasPython()) {
    throw new Error('The Python example needs python3 on PATH, for example: sudo apt-get install python3');
  }
}

/**
 * Runs a Python program over modules of a folder of this repository.
 * @param input becomes the program's standard input, as JSON
 * @returns its output, parsed as JSON
 */
export function runPython<T>(program: string, folder: string, input: unknown): T {
  const output = execFileSync('python3', ['-c', program], {
    env: { ...process.env, PYTHONPATH: resolve(ROOT, folder), PYTHONDONTWRITEBYTECODE: '1' },
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  return JSON.parse(output) as T;
}

function hasPython(): boolean {
  return spawnSync('python3', ['--version']).status === 0;
}
