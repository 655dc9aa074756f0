import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReaper } from '../../scripts/processes.mjs';
import { FileCheck, FoundFault } from '../../src/attachments/files/file-check';
import { ChannelWorkspace } from '../support/channel-workspace';
import { contradictions } from '../support/integrity';
import { print } from '../support/report';
import { TestService } from '../support/service';
import { environmentOf } from '../support/service-process';
import { S3Simulator } from '../support/simulators/s3';
import { TelegramSimulator } from '../support/simulators/telegram';
import { stopAtEnd } from '../support/stop-at-end';
import { TcpProxy } from '../support/tcp-proxy';
import { CLI } from '../support/test-cli';
import { runProgram } from '../support/run-program';
import { waitFor } from '../support/wait';
import { AcceptedMessage, FileTraffic, hashOf, ReceivedMessage } from './file-traffic';
import { Random } from './random';
import { SmallDisk } from './small-disk';
import { SupervisedProcess } from './supervised-process';

const seed = process.env.SEED ? Number(process.env.SEED) : Math.floor(Math.random() * 1_000_000);
const CHATS = 5;
const FAULT_MS = 1_500;
const CALM_MS = { least: 200, most: 900 };
/** Time between a start and the kill at a step, and for which the step is awaited. */
const KILL_MS = { least: 0, most: 800 };
const STEP_MS = 2_000;
/** Time that the provider takes for each answer, so that a kill can come between. */
const ANSWER_MS = 150;
const SETTLE_MS = 60_000;
const RUN_MS = 180_000;

/** Steps at which a process is killed, each with a query that finds a row meanwhile. */
const STEPS: { role: 'api' | 'worker'; name: string; when: string }[] = [
  {
    role: 'api',
    name: 'an upload',
    when: 'SELECT FROM files WHERE uploader IS NOT NULL AND stored_at IS NULL',
  },
  { role: 'api', name: 'any time', when: 'SELECT FROM workspaces' },
  {
    role: 'worker',
    name: 'a claimed message',
    when: 'SELECT FROM outbound_messages WHERE lease_id IS NOT NULL',
  },
  { role: 'worker', name: 'a send', when: "SELECT FROM message_parts WHERE status = 'SENDING'" },
  {
    role: 'worker',
    name: 'a fetch',
    when: "SELECT FROM attachment_fetches WHERE due_at > now() + interval '5 minutes'",
  },
  {
    role: 'worker',
    name: 'a received file',
    when: 'SELECT FROM files WHERE uploader IS NULL AND stored_at IS NULL',
  },
];

const seconds = (from: number, to: number) => Math.round((to - from) / 1000);

interface Fault {
  name: string;
  begin: () => unknown;
  end: () => unknown;
}

/** Store of files that can be made to fail. */
interface TroubledStore {
  env: Record<string, string>;
  faults: Fault[];
}

/** Makes a folder that can be away and, where a file system can be mounted, full. */
async function troubledFolder(): Promise<TroubledStore> {
  const folder = mkdtempSync(join(tmpdir(), 'file-chaos-'));
  const reaper = await startReaper(join(folder, 'lock'));
  stopAtEnd(reaper, async () => {
    await reaper.finish();
    rmSync(folder, { recursive: true, force: true });
  });
  const disk = await SmallDisk.mount(join(folder, 'disk'), reaper);
  if (typeof disk === 'string') print(`The store's disk is never full: ${disk}`);
  const mounted = typeof disk === 'string' ? folder : disk.folder;
  const files = join(mounted, 'files');
  const away: Fault = {
    name: 'away',
    begin: () => {
      renameSync(files, `${files}-away`);
      writeFileSync(files, '');
    },
    end: () => {
      unlinkSync(files);
      renameSync(`${files}-away`, files);
    },
  };
  const full =
    typeof disk === 'string' ? [] : [{ name: 'full', begin: () => disk.fill(), end: () => disk.free() }];
  return { env: { FILE_STORE_DIRECTORY: files }, faults: [away, ...full] };
}

/** Makes a bucket that can be away, slow or full, or answer 500 after it has stored. */
async function troubledBucket(): Promise<TroubledStore> {
  const s3 = await new S3Simulator('files').start();
  const faults = (['away', 'slow', 'full', 'answers 500', 'conflict'] as const).map((name) => ({
    name,
    begin: () => s3.trouble(name),
    end: () => s3.recover(),
  }));
  return { env: s3.environment, faults };
}

/**
 * Sends and receives files while their store, PostgreSQL and the provider fail, and while the API and the
 * worker are killed. SEED=… repeats a run's choices.
 */
describe.each([
  { kind: 'a folder', make: troubledFolder },
  { kind: 'a bucket', make: troubledBucket },
])(`Chaos with files in $kind (SEED=${seed})`, ({ kind, make }) => {
  const random = new Random(seed).stream(kind);
  const environment = { ...process.env };
  let service: TestService;
  let telegram: TelegramSimulator;
  let api: SupervisedProcess;
  let worker: SupervisedProcess;
  let store: TroubledStore;
  let traffic: FileTraffic[];
  let accepted: AcceptedMessage[];
  let received: ReceivedMessage[];
  /** Ids of the parts that a worker was sending when it was killed. */
  const interrupted = new Set<string>();
  /** Names of the steps at which a process was killed. */
  const steps = new Set<string>();

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    store = await make();
    // Credentials of S3 are read from the environment of the process.
    Object.assign(process.env, store.env);
    const env = { ...telegram.environment, ...store.env };
    service = await TestService.create({ env });
    telegram.hookOrigin = service.baseUrl;
    const database = await TcpProxy.start(service.stores.databaseUrl);
    const owner = service.stores.databaseOwnerUrl;
    const stores = {
      ...service.stores,
      databaseUrl: database.address,
      ...(owner !== undefined && { databaseOwnerUrl: database.reroute(owner) }),
    };
    api = new SupervisedProcess('api', stores, env, ({ url }) => (telegram.hookOrigin = url));
    worker = new SupervisedProcess('worker', stores, env, undefined, endLeases);
    traffic = [];
    for (let n = 0; n < CHATS; n++) traffic.push(await newChat(7_900_000 + n));
    endGarbage();
    await Promise.all([api.start(), worker.start()]);
    const faults = [
      ...store.faults,
      { name: 'PostgreSQL away', begin: () => database.cut(), end: () => database.restore() },
      { name: 'provider answers garbage', begin: makeGarbage, end: endGarbage },
    ];
    const begunAt = Date.now();
    await strike(faults);
    const struckAt = Date.now();
    accepted = traffic.flatMap((chat) => chat.accepted);
    received = traffic.flatMap((chat) => chat.received);
    await waitFor('all files to be fetched and sent', isSettled, SETTLE_MS);
    print(
      `Chaos with files in ${kind}, SEED=${seed}: ${accepted.length} messages sent, ${received.length} received, ` +
        `${sum(({ retries }) => retries)} requests repeated, ${api.kills} kills of the API, ${worker.kills} of the ` +
        `worker, amid ${[...steps].join(', ')}; ${interrupted.size} parts interrupted; ` +
        `${seconds(begunAt, struckAt)} s of faults, settled in ${seconds(struckAt, Date.now())} s`,
    );
  }, RUN_MS);
  afterAll(async () => {
    process.env = environment;
    await Promise.all([api?.stop(), worker?.stop()]);
  });

  const sum = (of: (chat: FileTraffic) => number) => traffic.reduce((total, chat) => total + of(chat), 0);

  async function newChat(botId: number): Promise<FileTraffic> {
    const botToken = TelegramSimulator.token(botId);
    const chatId = botId + 1_000_000;
    const shop = await ChannelWorkspace.connect(service, 'TELEGRAM', { botToken });
    await telegram.write(botToken, chatId, 'Hi');
    const { id: conversationId } = await shop.conversationWith(String(chatId));
    const chat = { shop, botToken, chatId, conversationId };
    return new FileTraffic(api, telegram, chat, random.stream(`chat ${botId}`));
  }

  /** Strikes with each fault in a random order, and kills processes meanwhile, under traffic. */
  async function strike(faults: Fault[]): Promise<void> {
    const running = Promise.all(traffic.map((chat) => chat.run()));
    const killing = Promise.all([
      killAtSteps('api', random.stream('kills of the API')),
      killAtSteps('worker', random.stream('kills of the worker')),
    ]);
    const order = random.stream('faults');
    for (let left = [...faults]; left.length > 0;) {
      const fault = order.pick(left);
      left = left.filter((other) => other !== fault);
      await sleep(order.between(CALM_MS.least, CALM_MS.most));
      await fault.begin();
      await sleep(FAULT_MS);
      await fault.end();
    }
    await killing;
    for (const chat of traffic) chat.end();
    await Promise.all([api.ready(), worker.ready()]);
    await running;
  }

  /** Kills a process at each step of its work, in a random order. */
  async function killAtSteps(role: 'api' | 'worker', order: Random): Promise<void> {
    const struck = role === 'api' ? api : worker;
    for (let left = STEPS.filter((step) => step.role === role); left.length > 0;) {
      const step = order.pick(left);
      left = left.filter((other) => other !== step);
      await struck.ready();
      await sleep(order.between(KILL_MS.least, KILL_MS.most));
      const isAt = async () => (await service.query(step.when)).length > 0;
      // A store that is away may keep the process from this step.
      const isThere = await waitFor(step.name, isAt, STEP_MS).catch(() => false);
      if (isThere) steps.add(step.name);
      struck.kill();
    }
  }

  /** Makes sends and fetches fail with answers that say nothing. */
  function makeGarbage(): void {
    telegram.trouble({ kind: 'refusal', response: { status: 502, body: '<html>Bad Gateway</html>' } });
    for (const [path, file] of telegram.handedOut) {
      if (file.status !== undefined) continue;
      telegram.handedOut.set(path, { ...file, status: 500 });
      setTimeout(() => telegram.handedOut.set(path, file), FAULT_MS);
    }
  }

  function endGarbage(): void {
    telegram.trouble({ kind: 'slow', ms: ANSWER_MS });
  }

  /** Ends the leases of a killed worker, whose time would pass by itself, and notes what it was sending. */
  async function endLeases(): Promise<void> {
    const parts = await service.query<{ id: string }>(
      "SELECT id FROM message_parts WHERE status = 'SENDING'",
    );
    for (const { id } of parts) interrupted.add(id);
    await service.query('UPDATE outbound_messages SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
    await service.query('UPDATE attachment_fetches SET due_at = now() WHERE due_at IS NOT NULL');
  }

  /** Reports whether nothing is left to fetch or to send. What waits for a retry is made due. */
  async function isSettled(): Promise<boolean> {
    await service.query(`UPDATE attachment_fetches SET due_at = now()
      WHERE due_at > now() + interval '1 second' AND due_at < now() + interval '5 minutes'`);
    const [left] = await service.query<{ messages: number; files: number }>(
      `SELECT (SELECT count(*)::integer FROM outbound_messages WHERE NOT holds) AS messages,
              (SELECT count(*)::integer FROM attachments WHERE state = 'PENDING') AS files`,
    );
    const [unrouted] = await service.query<{ count: number }>(
      `SELECT count(*)::integer FROM messages WHERE sender_type = 'AGENT' AND delivery_status IN ('QUEUED', 'SENDING')`,
    );
    return left!.messages === 0 && left!.files === 0 && unrouted!.count === 0;
  }

  async function listMessages(chat: FileTraffic, conversationId: string): Promise<Map<string, any>> {
    const found = new Map<string, any>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: any = await (
        await chat.request(`/conversations/${conversationId}/messages?limit=200${query}`)
      ).json();
      for (const message of page.data) found.set(message.id, message);
      cursor = page.nextCursor;
    }
    return found;
  }

  it('was under load', () => {
    expect(accepted.length).toBeGreaterThan(10);
    expect(received.length).toBeGreaterThan(10);
    expect(sum(({ retries }) => retries)).toBeGreaterThan(0);
    expect(api.kills + worker.kills).toBe(STEPS.length);
    expect(steps.size).toBeGreaterThan(STEPS.length / 2);
  });

  it('answered every client according to the documentation', () => {
    expect(traffic.flatMap(({ unexpected }) => unexpected)).toEqual([]);
  });

  it('lost no process that the suite did not kill', () => {
    expect([...api.deaths, ...worker.deaths]).toEqual([]);
  });

  it('lost no message, and shows each of their files whole', async () => {
    const faults: string[] = [];
    for (const chat of traffic) {
      const { conversationId } = chat.accepted[0]!;
      const messages = await listMessages(chat, conversationId);
      const expected = new Map(chat.accepted.map(({ id, hashes }) => [id, hashes]));
      for (const { caption, hash } of chat.received) {
        const same = [...messages.values()].filter(({ attachments }) => attachments[0]?.caption === caption);
        if (same.length !== 1) faults.push(`${caption} is there ${same.length} times`);
        else expected.set(same[0].id, [hash]);
      }
      for (const [id, hashes] of expected) {
        const attachments: any[] = messages.get(id)?.attachments ?? [];
        if (attachments.map(({ sha256 }) => sha256).join() !== hashes.join()) faults.push(`files of ${id}`);
        for (const { id: attachmentId, state, sha256 } of attachments) {
          const content = await chat.request(`/attachments/${attachmentId}/content`);
          const bytes = Buffer.from(await content.arrayBuffer());
          if (state !== 'READY' || !content.ok || hashOf(bytes) !== sha256)
            faults.push(
              `${attachmentId} is ${state}, and answers ${content.status} and ${bytes.length} bytes`,
            );
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it('sent no file twice, and knows of each whether it arrived unless the worker was killed', async () => {
    const arrivals = new Map<string, number>();
    for (const { file } of telegram.sent)
      if (file) arrivals.set(file.sha256, (arrivals.get(file.sha256) ?? 0) + 1);
    expect([...arrivals].filter(([, count]) => count > 1)).toEqual([]);
    const parts = await service.query<{ id: string; status: string; sha256: string }>(
      `SELECT p.id, p.status, encode(f.sha256, 'hex') AS sha256
       FROM message_parts p JOIN files f ON f.tenant_id = p.tenant_id AND f.id = p.file_id`,
    );
    expect(parts.length).toBe(accepted.flatMap(({ hashes }) => hashes).length);
    const wrong = parts.filter(({ id, status, sha256 }) =>
      status === 'UNKNOWN' ? !interrupted.has(id) : status !== 'SENT' || !arrivals.has(sha256),
    );
    expect(wrong).toEqual([]);
  });

  it('left rows and bytes that agree', async () => {
    const variables = { ...environmentOf(service.stores), ...store.env };
    const args = [CLI, 'files', 'check', '--hashes'];
    const { stdout } = await runProgram(process.execPath, args, { env: variables });
    expect(JSON.parse(stdout)).toMatchObject({ faults: 0 });
    // Young bytes without a row would be found on the next day.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * 3_600_000);
    const faults: FoundFault[] = [];
    for await (const step of service.app.get(FileCheck, { strict: false }).checkBytes())
      faults.push(...step.faults);
    jest.restoreAllMocks();
    expect(faults).toEqual([]);
    expect(await contradictions((sql) => service.query(sql))).toEqual([]);
  });
});
