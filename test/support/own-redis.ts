import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startReaper } from '../../scripts/processes.mjs';
import { findHome } from '../../scripts/servers/home.mjs';
import { startRedis } from '../../scripts/servers/redis.mjs';

type Options = Parameters<typeof startRedis>[0];
type Server = Awaited<ReturnType<typeof startRedis>>;

/** A Redis of one test's own, which can be killed and brought back, with nothing in it, where it was. */
export class OwnRedis {
  private constructor(
    private readonly options: Options,
    private server: Server,
  ) {}

  /** @param password default: one of its own */
  static async start(password?: string): Promise<OwnRedis> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-redis-'));
    chmodSync(folder, 0o755); // the server may run as another user
    const home = findHome(folder);
    if (password) writeFileSync(join(home.directory, 'redis.password'), password);
    const reaper = await startReaper();
    for (const path of new Set([folder, home.directory])) reaper.removeAtEnd(path);
    const options = { home, reaper, disposable: true, onLog: () => undefined, port: await freePort() };
    return new OwnRedis(options, await startRedis(options));
  }

  get url(): string {
    return this.server.url;
  }

  async kill(): Promise<void> {
    const { child } = this.server;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    this.options.reaper.release(child);
  }

  async restart(): Promise<void> {
    this.server = await startRedis(this.options);
  }

  stop(): Promise<void> {
    return this.options.reaper.finish();
  }
}
