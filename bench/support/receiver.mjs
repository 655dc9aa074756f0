import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../scripts/processes.mjs';
import { must } from './measure.mjs';

const POLL_MS = 20;
const STALLED_MS = 15_000;

/** Starts the receiver of all webhooks in its own process. */
export async function startReceiver(reaper, { certFile, keyFile }) {
  const child = fork(fileURLToPath(new URL('receiver-process.mjs', import.meta.url)), {
    env: { ...process.env, CERT_FILE: certFile, KEY_FILE: keyFile },
  });
  reaper.adopt(child, 'SIGTERM');
  const [{ port }] = await once(child, 'message');
  return new Receiver(child, port);
}

class Receiver {
  constructor(child, port) {
    this.child = child;
    this.port = port;
  }

  /** Forgets earlier deliveries, and checks new ones with the secrets of these endpoints. */
  expect(/** @type {import('./fixture.mjs').Fixture} */ { receiving }) {
    const secrets = Object.fromEntries(receiving.map(({ endpoint }) => [endpoint.path, endpoint.secret]));
    return this.run({ command: 'expect', secrets });
  }

  /**
   * Waits for `count` deliveries since the last call. `times` holds the creation and arrival of each message.
   * @throws WrongAnswers when a delivery is missing, doubled or wrongly signed
   */
  async take(count) {
    let seen = 0;
    for (let at = performance.now(); performance.now() - at < STALLED_MS && seen < count;) {
      const now = (await this.run({ command: 'count' })).count;
      if (now > seen) at = performance.now();
      seen = now;
      if (seen < count) await sleep(POLL_MS);
    }
    const { times, forged, distinct, count: all } = await this.run({ command: 'take' });
    must(forged === 0, `${forged} deliveries were signed wrongly`);
    must(distinct === count && all === count, `${distinct} of ${count} deliveries came, in ${all} requests`);
    return { times };
  }

  release() {
    return this.run({ command: 'release' });
  }

  async run(command) {
    this.child.send(command);
    const [result] = await once(this.child, 'message');
    return result;
  }
}
