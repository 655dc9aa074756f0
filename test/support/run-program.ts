import { execFile, ExecFileOptions } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs a program and returns its output.
 * @throws Error that contains its stdout: compilers explain themselves there, and Node leaves it out
 */
export async function runProgram(
  program: string,
  args: string[],
  options: ExecFileOptions = {},
): Promise<{ stdout: string; stderr: string }> {
  try {
    return await promisify(execFile)(program, args, { ...options, encoding: 'utf8' });
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`, { cause: error });
  }
}
