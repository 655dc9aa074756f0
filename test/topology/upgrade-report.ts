import { groupBy } from '../../src/common/group-by';
import { markdownTable } from '../support/report';
import { FleetRole } from './fleet';
import { UpgradeRun } from './upgrade-run';
import { Version } from './version';

/** Returns the report of a run, as text. */
export function reportOf(
  { steps, settledMs, clients, fleet, migrations, telegram, balancer }: UpgradeRun,
  before: Version,
  order: readonly FleetRole[],
): string {
  const rows = steps.map(({ name, ms, messages, retries }) => [
    name,
    `${(ms / 1000).toFixed(1)} s`,
    String(messages),
    String(retries.length),
  ]);
  const reasons = groupBy(clients.retries, ({ reason }) => reason.replace(/ \d+/g, ''));
  return [
    '',
    `From ${before.name}, ${order.join('s, then ')}s; ${migrations.length} migrations`,
    '',
    markdownTable(['Step', 'Took', 'Messages', 'Sent again'], rows),
    '',
    `${clients.agents.begun} messages of agents, ${clients.written.length} of customers, ${telegram.sent.length} replies ` +
      `sent, ${clients.ledger.accepted.length} webhooks accepted, ${clients.ledger.duplicates} of them twice`,
    `All done ${settledMs} ms after the load`,
    `Other requests answered: ${clients.caller.answered}; connections lost at the balancer: ${balancer.lost}`,
    `SIGTERM to the end: ${fleet.ends.map(({ role, ms }) => `${role} ${ms} ms`).join(', ')}`,
    `Streams ended: ${clients.streamEnds.join(', ')}`,
    ...[...reasons].map(([reason, retries]) => `Sent again: ${retries.length} × ${reason}`),
    '',
  ].join('\n');
}
