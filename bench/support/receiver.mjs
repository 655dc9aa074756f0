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
  /** @type {Map<number, (result: any) => void>} */
  waiting = new Map();
  commands = 0;

  constructor(child, port) {
    this.child = child;
    this.port = port;
    child.on('message', ({ answers, ...result }) => {
      this.waiting.get(answers)(result);
      this.waiting.delete(answers);
    });
  }

  /**
   * Forgets earlier deliveries, and checks new ones with the secrets of these workspaces' endpoints.
   *
   * @param {import('./fixture.mjs').Receiving[]} receiving
   */
  expect(receiving) {
    const endpoints = receiving.flatMap(({ endpoints }) => endpoints);
    return this.run('expect', { secrets: endpoints.map(({ path, secret }) => [path, secret]) });
  }

  /**
   * Waits for `count` deliveries to a group of endpoints since the last call. `times` holds the creation and arrival of
   * each message to the live ones. The group `old` are messages with the body OLD_BODY, whatever their endpoint.
   * @throws WrongAnswers when a delivery is missing, doubled or wrongly signed
   */
  async take(count, group = 'live') {
    let seen = 0;
    for (let at = performance.now(); performance.now() - at < STALLED_MS && seen < count;) {
      const now = (await this.run('count', { group })).count;
      if (now > seen) at = performance.now();
      seen = now;
      if (seen < count) await sleep(POLL_MS);
    }
    const { times, forged, distinct, count: all } = await this.run('take', { group });
    must(forged === 0, `${forged} deliveries were signed wrongly`);
    must(
      distinct === count && all === count,
      `${distinct} of ${count} deliveries came to the ${group} endpoints, in ${all} requests`,
    );
    return { times };
  }

  /** @returns {Promise<number>} requests so far that were never answered */
  async countHung() {
    return (await this.run('hung')).hung;
  }

  /** @returns {Promise<number[][]>} for each delivery that failed, the time of its message and of each attempt */
  async failedAttempts() {
    return (await this.run('failed')).attempts;
  }

  /** Closes the requests that hang. */
  release() {
    return this.run('release');
  }

  /** @returns {Promise<any>} */
  run(command, parameters = {}) {
    const id = ++this.commands;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.child.send({ ...parameters, command, id });
    });
  }
}
