import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sleep, type Reaper } from '../../scripts/processes.mjs';
import type { Certificates } from '../../scripts/certificates.mjs';
import type { Group, Receiving } from './fixture.mts';
import { must } from './measure.mts';
import { nextMessage } from './next-message.mts';
import type { Answer, Inputs, Results } from './receiver-process.mts';
import type { Arrival } from './statistics.mts';

const POLL_MS = 20;
const STALLED_MS = 15_000;

/**
 * Starts a webhook receiver in a process of its own, so that it delays neither the benchmark nor the service.
 */
export async function startReceiver(reaper: Reaper, { certFile, keyFile }: Certificates): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('receiver-process.mts', import.meta.url)), {
    env: { ...process.env, CERT_FILE: certFile, KEY_FILE: keyFile },
  });
  reaper.adopt(child, 'SIGTERM');
  const { port } = await nextMessage<{ port: number }>(child);
  return new Receiver(child, port);
}

/** Handle on the process of a webhook receiver: each method is a command to it. */
export class Receiver {
  readonly port: number;
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private commands = 0;

  constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
    child.on('message', (answer: Answer) => {
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    });
  }

  /**
   * Forgets earlier deliveries, and checks the signatures of new ones with the secrets of these workspaces'
   * endpoints.
   */
  async expect(receiving: Receiving[]): Promise<void> {
    const endpoints = receiving.flatMap(({ endpoints }) => endpoints);
    await this.run(
      'expect',
      endpoints.map(({ path, secret }) => [path, secret]),
    );
  }

  /**
   * Waits for `count` deliveries to a group of endpoints since the last call, and checks that exactly those
   * came. Returns the time of each message to the group `live` and of its arrival. The group `old` are
   * messages with the body OLD_BODY to any endpoint.
   *
   * @throws WrongAnswers when a delivery is missing, doubled or wrongly signed
   */
  async take(count: number, group: Group | 'old' = 'live'): Promise<Arrival[]> {
    let seen = 0;
    for (let at = performance.now(); performance.now() - at < STALLED_MS && seen < count;) {
      const now = await this.run('count', group);
      if (now > seen) at = performance.now();
      seen = now;
      if (seen < count) await sleep(POLL_MS);
    }
    const { times, forged, distinct, count: all } = await this.run('take', group);
    must(forged === 0, `${forged} deliveries were signed wrongly`);
    must(
      distinct === count && all === count,
      `${distinct} of ${count} deliveries came to the ${group} endpoints, in ${all} requests`,
    );
    return times;
  }

  /** Counts the requests so far that were never answered. */
  countHung(): Promise<number> {
    return this.run('countHung', null);
  }

  /**
   * Lists for each delivery to the group `fail` the time of its message and of each attempt, in milliseconds.
   */
  listFailed(): Promise<number[][]> {
    return this.run('listFailed', null);
  }

  /** Closes the connections of the requests that wait for an answer. */
  async release(): Promise<void> {
    await this.run('release', null);
  }

  private run<Name extends keyof Inputs>(name: Name, input: Inputs[Name]): Promise<Results[Name]> {
    const id = ++this.commands;
    return new Promise((resolve) => {
      this.waiting.set(id, ({ result }) => resolve(result as Results[Name]));
      this.child.send({ id, name, input });
    });
  }
}
