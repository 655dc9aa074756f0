import { Attack } from './attacker';
import { besiege } from './besiege';
import { BODIES } from './bodies';
import { CALLERS } from './callers';
import { CONNECTIONS } from './connections';
import { HOOKS } from './hooks';
import { PROTOCOL } from './protocol';
import { AttackTarget } from './target';
import { UPLOADING } from './uploads';
import { VISITING } from './visitors';
import { Testimony } from './witness';

const ATTACKS: Attack[] = [
  ...CONNECTIONS,
  ...PROTOCOL,
  ...BODIES,
  ...CALLERS,
  ...HOOKS,
  ...VISITING,
  ...UPLOADING,
];

/** Time for deliveries to finish: the contract's retries of a webhook end after 62 s of backoff. */
const SETTLE_MS = 120_000;

/** Attacks an API process and a worker. The witness calls the API, and receives webhooks. */
describe('Attack', () => {
  let testimony: Testimony;

  besiege(
    'Attack',
    (sizes) => AttackTarget.start(sizes),
    ATTACKS,
    async ({ witness }) => {
      await witness.settled(SETTLE_MS);
      testimony = await witness.report();
      return testimony.unexpected;
    },
  );

  it('lost nothing that the witness sent', () => {
    expect(testimony.promised).toBeGreaterThan(20);
    expect(testimony).toMatchObject({ missing: 0, inFlight: 0 });
  });
});
