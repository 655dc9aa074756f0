import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/processes.mjs';
import { startRedis } from '../../scripts/servers/redis.mjs';
import { makeServerContext } from './server-context';
import { forgetStop, stopAtEnd } from './stop-at-end';

type Options = Parameters<typeof startRedis>[0];
type Server = Awaited<ReturnType<typeof startRedis>>;

/** Redis of one test, which can be killed and started again, empty, at the same address. */
export class OwnRedis {
  private constructor(
    private readonly options: Options,
    private server: Server,
  ) {}

  /**
   * Starts a server.
   * @param password a random one by default
   */
  static async start(password?: string): Promise<OwnRedis> {
    const context = await makeServerContext();
    if (password) writeFileSync(join(context.home.directory, 'redis.password'), password);
    const options = { ...context, disposable: true, port: await freePort() };
    const redis = new OwnRedis(options, await startRedis(options));
    return stopAtEnd(redis, () => redis.stop());
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

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    await this.options.reaper.finish();
  }
}
