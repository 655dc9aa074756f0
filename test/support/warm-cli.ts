import { ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const WARM_CLI = resolve(__dirname, 'warm-cli-process.cjs');

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** The built CLI in a process that runs many commands, one at a time. */
export class WarmCli {
  private last: Promise<unknown> = Promise.resolve();

  private constructor(private readonly child: ChildProcess) {}

  static async start(cwd: string): Promise<WarmCli> {
    const child = fork(WARM_CLI, { cwd });
    await once(child, 'message');
    return new WarmCli(child);
  }

  /**
   * Runs a command.
   * @param env the whole environment of this command
   */
  run(env: Record<string, string>, ...args: string[]): Promise<CommandResult> {
    const result = this.last.then(async () => {
      const answered = once(this.child, 'message') as Promise<[CommandResult]>;
      this.child.send({ args, env });
      return (await answered)[0];
    });
    this.last = result;
    return result;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill();
    await exited;
  }
}
