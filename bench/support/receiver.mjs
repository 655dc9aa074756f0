import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../scripts/processes.mjs';
import { must } from './measure.mjs';

const POLL_MS = 20;
const STALLED_MS = 15_000;

/** The receiver of all webhooks, in a process of its own. */
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

  /** Forgets what came, and checks from now on with the secrets of these endpoints. */
  expect(/** @type {import('./fixture.mjs').Fixture} */ { receiving }) {
    const secrets = Object.fromEntries(receiving.map(({ endpoint }) => [endpoint.path, endpoint.secret]));
    return this.ask({ ask: 'expect', secrets });
  }

  /**
   * What came since the last call, once it is `count` deliveries: `times` are pairs of when each message was made and
   * when it was here.
   *
   * @param {number} count
   * @returns {Promise<{ times: [number, number][] }>}
   * @throws WrongAnswers when any is missing, came twice, or is signed wrongly
   */
  async take(count) {
    let seen = 0;
    for (let at = performance.now(); performance.now() - at < STALLED_MS && seen < count;) {
      const now = (await this.ask({ ask: 'count' })).count;
      if (now > seen) at = performance.now();
      seen = now;
      if (seen < count) await sleep(POLL_MS);
    }
    const { times, forged, distinct, count: all } = await this.ask({ ask: 'take' });
    must(forged === 0, `${forged} deliveries were signed wrongly`);
    must(distinct === count && all === count, `${distinct} of ${count} deliveries came, in ${all} requests`);
    return { times };
  }

  release() {
    return this.ask({ ask: 'release' });
  }

  async ask(question) {
    this.child.send(question);
    const [answer] = await once(this.child, 'message');
    return answer;
  }
}
