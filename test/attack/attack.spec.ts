import { rmSync } from 'node:fs';
import { print } from '../support/report';
import { Attack } from './attacker';
import { BODIES } from './bodies';
import { CALLERS } from './callers';
import { CONNECTIONS } from './connections';
import { HOOKS } from './hooks';
import { PROTOCOL } from './protocol';
import { tableOf } from './report';
import { Siege } from './siege';
import { FULL, SHORT } from './sizes';
import { AttackTarget } from './target';
import { VISITING } from './visitors';
import { Testimony } from './witness';

const isFull = process.env.ATTACK_SIZE === 'full';
const sizes = isFull ? FULL : SHORT;
const ATTACKS: Attack[] = [...CONNECTIONS, ...PROTOCOL, ...BODIES, ...CALLERS, ...HOOKS, ...VISITING];
const chosen = ATTACKS.filter(({ name }) => name.startsWith(process.env.ATTACK ?? ''));

const RUN_MS = isFull ? 3_600_000 : 600_000;
/** Time for deliveries to finish: the contract's retries of a webhook end after 62 s of backoff. */
const SETTLE_MS = 120_000;

/**
 * Attacks an API process and a worker in many ways, while another workspace, the witness, calls the API and
 * receives webhooks. `npm run test:attack` has production's limits and 10,000 connections; ATTACK=… selects
 * attacks by the beginning of their name.
 */
describe('Attack', () => {
  let target: AttackTarget;
  let siege: Siege;
  let testimony: Testimony;

  beforeAll(async () => {
    target = await AttackTarget.start(sizes);
    siege = new Siege(target, sizes);
    try {
      await siege.run(chosen, ({ attack, witness }) => {
        if (isFull) print(`${attack}: witness p99 ${witness.p99} ms`);
      });
      await target.witness.settled(SETTLE_MS);
      testimony = await target.witness.report();
    } finally {
      print(`\nAttack\n\n${tableOf(siege.rounds)}\n`);
    }
  }, RUN_MS);

  afterAll(async () => {
    if (!target) return;
    await target.stop();
    if (complaints().length === 0) rmSync(target.logFolder, { recursive: true });
    else print(`The processes' logs are in ${target.logFolder}`);
  }, 60_000);

  const complaints = () => [...target.deaths, ...target.answers.complaints, ...(testimony?.unexpected ?? [])];

  it('answered the attacker with errors as documented, and with no 5xx but 503', () => {
    expect(target.answers.complaints).toEqual([]);
  });

  it('released what attackers held', () => {
    expect(siege.rounds.filter(({ releasedMs }) => releasedMs === null).map(({ attack }) => attack)).toEqual(
      [],
    );
  });

  it('served the witness during each attack', () => {
    const unserved = siege.rounds.filter(({ witness }) => witness.served === 0);
    expect(unserved.map(({ attack }) => attack)).toEqual([]);
  });

  it('answered the witness with success, or 503', () => {
    expect(testimony.unexpected).toEqual([]);
  });

  it('lost nothing that the witness sent', () => {
    expect(testimony.promised).toBeGreaterThan(20);
    expect(testimony).toMatchObject({ missing: 0, inFlight: 0 });
  });

  it('lost no process', () => {
    expect(target.deaths).toEqual([]);
  });
});
