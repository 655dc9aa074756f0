import { spawn, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificates } from '../../scripts/certificates.mjs';
import { startServers } from '../../scripts/servers.mjs';

const require = createRequire(import.meta.url);
const built = (/** @type {string} */ name) => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));

/** The machine, for the figures' heading. */
export const machine = `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;

/**
 * What every benchmark plays on: PostgreSQL (with fsync on) and Redis of its own, a receiver, and the service's
 * processes as they run in production.
 */
export async function setStage() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-bench-'));
  const servers = await startServers({ dataDir: join(folder, 'data') });
  servers.reaper.removeAtEnd(folder);
  const { caFile, certFile, keyFile } = await makeCertificates(folder, ['localhost', '127.0.0.1']);
  const env = {
    ...process.env,
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    SECRETS_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    WEBHOOK_EXTRA_CA_FILE: caFile,
    NODE_ENV: 'production',
    LOG_LEVEL: 'error',
    HOST: '127.0.0.1',
  };
  await once(
    spawn(process.execPath, [built('cli.js'), 'migrate'], { env, stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );

  return {
    env,
    caFile,
    /** Starts a process of the service, and waits until it is ready. */
    async startProcess(/** @type {'api' | 'worker'} */ role, /** @type {number} */ port) {
      const child = spawn(process.execPath, [built('main.js')], {
        env: { ...env, ROLE: role, PORT: String(port) },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      servers.reaper.adopt(child, 'SIGTERM');
      for (let ready = false; !ready;) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        ready = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
          (answer) => answer.ok,
          () => false,
        );
      }
      return child;
    },
    async startReceiver() {
      const child = fork(fileURLToPath(new URL('receiver.mjs', import.meta.url)), {
        env: { ...process.env, CERT_FILE: certFile, KEY_FILE: keyFile },
      });
      servers.reaper.adopt(child, 'SIGTERM');
      const [{ port }] = await once(child, 'message');
      return {
        port,
        /** Latencies, in milliseconds, since the last call. */
        async take() {
          child.send('take');
          const [{ latencies }] = await once(child, 'message');
          return latencies;
        },
      };
    },
    /** The services that a dashboard backend imports, in this process. */
    async openServices() {
      const { NestFactory } = require('@nestjs/core');
      const messaging = require(built('index.js'));
      const app = await NestFactory.createApplicationContext(
        messaging.MessagingModule.forRoot({
          databaseUrl: servers.databaseUrl,
          redisUrl: servers.redisUrl,
          secretsKeys: env.SECRETS_KEYS,
          webhookAllowedNetworks: ['127.0.0.0/8'],
          webhookExtraCaFile: caFile,
        }),
        { logger: false },
      );
      return {
        app,
        messaging,
        get: (/** @type {string} */ name) => app.get(messaging[name], { strict: false }),
      };
    },
    stop: servers.stop,
  };
}
