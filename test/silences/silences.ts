/** Parts that can fail, with their names in the documentation. */
export const PARTS = {
  provider: "A channel's provider",
  receiver: 'A receiver of webhooks',
  mail: 'The mail server',
  push: 'The push service of a browser',
  stream: 'The stream of a page',
  worker: 'The workers',
  redis: 'Redis',
  postgresql: 'PostgreSQL',
  network: 'The network of a browser',
} as const;
export type Part = keyof typeof PARTS;

/** People who may wait in silence when a part fails. An owner stands for the operator too. */
export const PEOPLE = ['owner', 'agent', 'visitor'] as const;
export type Person = (typeof PEOPLE)[number];

export type CellName = `${Part}: ${Person}`;

/** Suites that run the scenarios of the table, with their files as seen from this folder. */
export const SUITES = {
  service: 'service.spec.ts',
  processes: 'processes.process.ts',
  browser: '../browser/silences.spec.ts',
} as const;
export type Suite = keyof typeof SUITES;

/** Cell of a person who is told something while a part fails. */
interface Told {
  told: string;
  where: string;
  within: string;
  /** Event that ends it. */
  until: string;
  /** Suite that runs the scenario of this cell. */
  suite: Suite;
}

/** Cell of a person who is told nothing, with the reason. */
interface Untold {
  because: string;
}

export type Cell = Told | Untold;

/**
 * Table of silences: who is told what, where and when while a part fails, and what ends it. A cell that is
 * missing does not compile. `docs/how-to/alerts.md` shows the same table.
 */
export const SILENCES = {
  'provider: owner': {
    told: 'the alert `CHANNEL_NEEDS_CREDENTIALS`, if the provider refuses the credentials, or `REPLIES_FAILING`, if it refuses five replies in a row',
    where: 'banner, events, mail',
    within: 'with the first refused call, or the fifth refused reply',
    until: 'the credentials are renewed, a reply arrives or the channel is disconnected',
    suite: 'service',
  },
  'provider: agent': {
    told: 'that the reply failed, and why',
    where: 'the message, the view “Not delivered”',
    within: 'at once if it is refused, after eight tries if the provider is away',
    until: 'it is sent again or dismissed',
    suite: 'service',
  },
  'provider: visitor': {
    because: "a customer writes in the provider's own app, which says what was not sent",
  },
  'receiver: owner': {
    told: 'the alert `ENDPOINT_FAILING`',
    where: 'banner, events, mail',
    within: 'with the first delivery that is given up, after six attempts',
    until: 'a delivery succeeds',
    suite: 'service',
  },
  'receiver: agent': { because: 'the inbox reads the database, and needs no webhook' },
  'receiver: visitor': { because: 'messages are stored and answered without webhooks' },
  'mail: owner': {
    told: 'of alerts without a mail, which is tried seven times in 13 hours; that an invitation was not mailed',
    where: 'banner, events; the answer to the invitation',
    within: 'at once',
    until: 'the mail server takes mails again; the invitation must be sent again',
    suite: 'service',
  },
  'mail: agent': {
    told: 'of messages that wait, by a mail that is tried seven times in 13 hours; that the server does not know their address',
    where: 'their mailbox, if they have chosen mails; the inbox; the page Account',
    within: 'a minute after the first try, eight hours after the sixth',
    until: 'somebody answers; a mail to an unknown address, until they choose again',
    suite: 'service',
  },
  'mail: visitor': {
    told: 'the answer, by a mail that is tried seven times in 13 hours; that an address is needed, if the server does not know theirs',
    where: 'their mailbox; the widget always has the answer, and asks for the address',
    within: 'a minute after the first try, eight hours after the sixth',
    until: 'the answer is read',
    suite: 'service',
  },
  'push: owner': { because: 'alerts are not pushed: the banner, events and mails tell of them' },
  'push: agent': {
    told: 'of messages that wait, by mail; that nothing is pushed to this browser, if its address has ended',
    where: 'their mailbox, if they have chosen mails; the inbox; the switch on the page Account',
    within: 'the quiet time that they have chosen',
    until: 'somebody answers; they turn notices on again',
    suite: 'service',
  },
  'push: visitor': { because: 'an answer that a visitor has not read is mailed' },
  'stream: owner': { because: 'the banner reads the alerts every 30 seconds, and needs no stream' },
  'stream: agent': {
    told: 'of new messages, by reads every 5 seconds',
    where: 'inbox',
    within: '45 seconds',
    until: 'the stream is back',
    suite: 'browser',
  },
  'stream: visitor': {
    told: 'of new answers, by reads every 5 seconds',
    where: 'widget',
    within: '15 seconds',
    until: 'the stream is back',
    suite: 'browser',
  },
  'worker: owner': {
    told: 'that the oldest event waits: `outbox_oldest_age_seconds`',
    where: 'the metrics of each API process, the alert `MessagingWebhooksLate` in `deploy/alerts.yaml`',
    within: 'a minute and ten seconds',
    until: 'a worker runs',
    suite: 'processes',
  },
  'worker: agent': {
    told: 'that the reply is queued',
    where: 'the message',
    within: 'at once',
    until: 'a worker sends it',
    suite: 'processes',
  },
  'worker: visitor': {
    told: 'the answer itself',
    where: 'widget',
    within: '15 seconds, by the next heartbeat of the stream',
    until: 'a worker runs, which sends answers at once',
    suite: 'service',
  },
  'redis: owner': {
    told: 'that Redis is down',
    where: '`/health/ready`; workers are not ready without it',
    within: '2 seconds',
    until: 'Redis is back',
    suite: 'processes',
  },
  'redis: agent': {
    told: 'of new messages, by a read of the database every 15 seconds',
    where: 'inbox; nobody is shown as present',
    within: '15 seconds',
    until: 'Redis is back',
    suite: 'processes',
  },
  'redis: visitor': {
    told: 'the answer itself',
    where: 'widget',
    within: '15 seconds, by the next heartbeat of the stream',
    until: 'Redis is back',
    suite: 'processes',
  },
  'postgresql: owner': {
    told: 'that the database is down; people of the dashboard, that the service cannot be reached',
    where: '`/health/ready`, a notice on each page',
    within: '3 seconds',
    until: 'PostgreSQL is back',
    suite: 'browser',
  },
  'postgresql: agent': {
    told: 'that the service cannot be reached; a reply waits as “Not sent”',
    where: 'a notice in the inbox, the message',
    within: '3 seconds',
    until: 'PostgreSQL is back; the reply goes out by itself',
    suite: 'browser',
  },
  'postgresql: visitor': {
    told: 'that there is no connection; messages wait in the browser',
    where: 'a line in the widget',
    within: '45 seconds',
    until: 'PostgreSQL is back; the messages go out by themselves',
    suite: 'browser',
  },
  'network: owner': {
    told: 'that the service cannot be reached',
    where: 'a notice on each page',
    within: '3 seconds',
    until: 'the network is back; the page reads everything again',
    suite: 'browser',
  },
  'network: agent': {
    told: 'that the service cannot be reached; a reply waits as “Not sent”',
    where: 'a notice in the inbox, the message',
    within: '3 seconds',
    until: 'the network is back; the reply goes out by itself',
    suite: 'browser',
  },
  'network: visitor': {
    told: 'that they are offline; messages wait in the browser',
    where: 'a line in the widget',
    within: 'at once',
    until: 'the network is back; the messages go out by themselves',
    suite: 'browser',
  },
} as const satisfies Record<CellName, Cell>;

/** Names of the cells whose scenarios a suite runs. */
type CellOf<S extends Suite> = {
  [C in CellName]: (typeof SILENCES)[C] extends { suite: S } ? C : never;
}[CellName];

/** Scenarios of a suite: one of each of its cells, which does not compile without it. */
export type Scenarios<S extends Suite> = Record<CellOf<S>, () => Promise<void>>;

export const CELLS = Object.keys(PARTS).flatMap((part) =>
  PEOPLE.map((person) => `${part}: ${person}` as CellName),
);

/** Returns the text of a cell in the documentation. */
export function textOf(cell: Cell): string {
  if ('because' in cell) return `Nobody, because ${cell.because}.`;
  const { told, where, within, until } = cell;
  return `${told[0]!.toUpperCase()}${told.slice(1)}. Where: ${where}. Within: ${within}. Until ${until}.`;
}

/** Declares the scenarios of a suite as tests. */
export function testSilences<S extends Suite>(suite: S, scenarios: Scenarios<S>, timeoutMs?: number): void {
  const wanted = CELLS.filter((name) => (SILENCES[name] as Partial<Told>).suite === suite);
  it.each(wanted)('%s is told', (name) => scenarios[name as CellOf<S>](), timeoutMs);
}
