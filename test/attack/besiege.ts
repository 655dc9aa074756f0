import { rmSync } from 'node:fs';
import { itOnLinux } from '../support/left-out';
import { print } from '../support/report';
import { Attack } from './attacker';
import { tableOf } from './report';
import { Siege } from './siege';
import { AttackSizes, FULL, SHORT } from './sizes';
import { Target } from './target';

export const isFull = process.env.ATTACK_SIZE === 'full';

const RUN_MS = isFull ? 3_600_000 : 600_000;

/**
 * Attacks a process in many ways while the witness, another workspace, uses it, and tests what holds of each
 * target. `npm run test:attack` has production's limits and 10,000 connections; ATTACK=… selects attacks by
 * the beginning of their name.
 * @param finish is called after the attacks; its complaints keep the processes' logs
 */
export function besiege<Means>(
  title: string,
  start: (sizes: AttackSizes) => Promise<Target<Means>>,
  attacks: readonly Attack<Means>[],
  finish: (target: Target<Means>) => Promise<string[]>,
): void {
  const sizes = isFull ? FULL : SHORT;
  const chosen = attacks.filter(({ name }) => name.startsWith(process.env.ATTACK ?? ''));
  let target: Target<Means>;
  let siege: Siege<Means>;
  let unexpected: string[] = [];

  beforeAll(async () => {
    target = await start(sizes);
    siege = new Siege(target, sizes);
    try {
      await siege.run(chosen, ({ attack, witness }) => {
        if (isFull) print(`${attack}: witness p99 ${witness.p99} ms`);
      });
      unexpected = await finish(target);
    } finally {
      print(`\n${title}\n\n${tableOf(siege.rounds)}\n`);
    }
  }, RUN_MS);

  afterAll(async () => {
    if (!target) return;
    await target.stop();
    const complaints = [...target.deaths, ...target.answers.complaints, ...unexpected];
    if (complaints.length === 0) rmSync(target.logFolder, { recursive: true });
    else print(`The processes' logs are in ${target.logFolder}`);
  }, 60_000);

  it('answered the attacker with errors as documented, and with no 5xx but 503', () => {
    expect(target.answers.complaints).toEqual([]);
  });

  itOnLinux('/proc', 'released what attackers held', () => {
    expect(siege.rounds.filter(({ releasedMs }) => releasedMs === null).map(({ attack }) => attack)).toEqual(
      [],
    );
  });

  it('served the witness during each attack', () => {
    const unserved = siege.rounds.filter(({ witness }) => witness.served === 0);
    expect(unserved.map(({ attack }) => attack)).toEqual([]);
  });

  it('answered the witness with success, or 503', () => {
    expect(unexpected).toEqual([]);
  });

  it('lost no process', () => {
    expect(target.deaths).toEqual([]);
  });
}
