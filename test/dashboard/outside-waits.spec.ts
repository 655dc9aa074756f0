import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { AddressInfo, createServer, Server, Socket } from 'node:net';
import { Downloads } from '../../dashboard/server/src/http/downloads';
import { newId } from '../../src/common/ids';
import { Release } from '../../src/common/work-budget';
import { Metrics } from '../../src/metrics/metrics';
import { WorkBudgets, WorkKind } from '../../src/http/limits/work-budgets';
import { makeSettings, Settings } from '../support/dashboard-routes';
import { DnsStub } from '../support/dns-stub';
import { RawConnection } from '../support/raw-connection';
import { TestService } from '../support/service';
import { Answer, TestDashboard } from '../support/test-dashboard';
import { waitFor } from '../support/wait';

const SILENT_NAMES = Array.from({ length: 5 }, (_, n) => `silent-${n}.example.com`);
/** Number of audit entries of 1 KiB that take more than a connection's buffers. */
const MANY_ENTRIES = 20_000;
/** File that takes more than a connection's buffers, and that no archive makes smaller. */
const LARGE_FILE = randomBytes(20_000_000);

/** Tests of what two workspaces make the dashboard wait for, while a third one uses it. */
describe('requests that wait for somebody outside', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let dns: DnsStub;
  let silent: Server;
  let silentUrl: string;
  let loud: Settings[];
  let quiet: Settings;
  const sockets = new Set<Socket>();
  let isHungUp = false;

  beforeAll(async () => {
    service = await TestService.create();
    dns = await DnsStub.start();
    for (const name of SILENT_NAMES) dns.set(name, { A: 'SILENCE', AAAA: 'SILENCE' });
    silent = createServer((socket) => {
      if (isHungUp) socket.destroy();
      else sockets.add(socket.on('error', () => undefined));
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    silentUrl = `https://${address}/hook`;
    dashboard = await TestDashboard.create(service.stores, {
      DATABASE_POOL_SIZE: '4',
      WEBHOOK_DNS_SERVERS: dns.server,
      TELEGRAM_API_URL: `http://${address}`,
      META_GRAPH_URL: `http://${address}`,
      HTTP_HEAD_TIMEOUT_MS: '1000',
      HTTP_BODY_TIMEOUT_MS: '4000',
    });
    quiet = await makeSettings(service, dashboard, silentUrl);
    loud = [
      await makeSettings(service, dashboard, silentUrl),
      await makeSettings(service, dashboard, silentUrl),
    ];
  });
  afterAll(() => {
    hangUp();
    silent.close();
  });

  const pathOf = ({ workspace }: Settings, path: string) => `/api/workspaces/${workspace.id}${path}`;
  const hangUp = () => {
    isHungUp = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const expectAllServed = async () => {
    for (const settings of [quiet, ...loud]) {
      const { status, body } = await settings.browser.get(pathOf(settings, '/agents'));
      expect({ status, body }).toMatchObject({ status: 200 });
    }
  };
  /** Sends requests of both loud workspaces, and expects that all three are served meanwhile. */
  const whileWaiting = async (
    send: (settings: Settings) => Promise<Answer>[],
    isWaiting: () => boolean,
  ): Promise<Answer[]> => {
    isHungUp = false;
    const answers = Promise.all(loud.flatMap(send));
    try {
      await waitFor('waits', isWaiting);
      await expectAllServed();
    } finally {
      hangUp();
      await answers;
    }
    return answers;
  };

  it('leave the slots to others: look-ups at a name server that is silent', async () => {
    const send = ({ browser, workspace }: Settings) =>
      SILENT_NAMES.map((name) =>
        browser.post(`/api/workspaces/${workspace.id}/webhook-endpoints/check-url`, {
          url: `https://${name}/`,
        }),
      );
    const answers = await whileWaiting(send, () => dns.questions.length >= 4);
    for (const { status } of answers) expect(status).toBe(200);
  });

  it('leave the slots to others: tests of a receiver that is silent', async () => {
    const ids = new Map<Settings, string>();
    for (const settings of loud) {
      const { body } = await settings.browser.post(pathOf(settings, '/webhook-endpoints'), {
        url: silentUrl,
        events: ['*'],
      });
      ids.set(settings, body.id);
    }
    const send = (settings: Settings) =>
      Array.from({ length: 6 }, () =>
        settings.browser.post(pathOf(settings, `/webhook-endpoints/${ids.get(settings)}/test`)),
      );
    const answers = await whileWaiting(send, () => sockets.size >= 4);
    // A workspace has five tests in flight at most.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  });

  it('leave the slots to others: calls of a provider that is silent', async () => {
    const credentials = {
      TELEGRAM: { botToken: `1:${'a'.repeat(35)}` },
      WHATSAPP: { phoneNumberId: '1', accessToken: 'token', appSecret: 'secret' },
    };
    const send = (settings: Settings) =>
      Object.entries(credentials).map(([channel, given]) =>
        settings.browser.post(pathOf(settings, '/channels'), { channel, credentials: given }),
      );
    const answers = await whileWaiting(send, () => sockets.size >= 2);
    for (const { status } of answers) expect([429, 503]).toContain(status);
  });

  /** Takes the slots of a kind that a key may have, and returns what gives them back. */
  const holdAll = async (kind: WorkKind, key: string) => {
    const releases: Release[] = [];
    // Leaves the line at once.
    const once = (_: 'close', leave: () => void) => setImmediate(leave);
    const caller = { closed: false, once, off: () => undefined };
    for (let isLast = false; !isLast;) {
      const release = await dashboard
        .get(WorkBudgets)
        .acquire(kind, key, caller)
        .catch(() => null);
      if (release) releases.push(release);
      isLast = release === null;
    }
    return () => releases.forEach((release) => release());
  };
  const countWaiting = (kind: WorkKind) => dashboard.get(WorkBudgets)['budgets'][kind]['waitingUntil'].size;
  /** Sends requests that wait for a slot of another kind, and expects that all are served meanwhile. */
  const whileHeld = async (
    kind: WorkKind,
    keys: string[],
    send: (settings: Settings) => Promise<Answer>[],
  ): Promise<Answer[]> => {
    const releases = await Promise.all(keys.map((key) => holdAll(kind, key)));
    const answers = loud.flatMap(send);
    try {
      // As many as the process has slots for requests.
      await waitFor('requests that wait', () => countWaiting(kind) >= 10);
      await expectAllServed();
    } finally {
      releases.forEach((release) => release());
    }
    return Promise.all(answers);
  };
  const many = (send: () => Promise<Answer>, length = 12) => Array.from({ length }, send);

  it.each([
    ['in contacts', 'walks', '/inbox/search/contacts?text=zz'],
    ['in messages', 'searches', '/inbox/search?text=parcel'],
  ] as const)('leave the slots to others: searches %s of the inbox', async (_, kind, path) => {
    const keys = loud.map(({ workspace }) => workspace.id);
    const send = (settings: Settings) => many(() => settings.browser.get(pathOf(settings, path)));
    for (const { status } of await whileHeld(kind, keys, send)) expect(status).toBe(200);
  });

  it('leave the slots to others: passwords that wait while strangers guess', async () => {
    const send = ({ browser }: Settings) =>
      many(
        () => browser.post('/api/account/password', { currentPassword: 'x', newPassword: 'y'.repeat(20) }),
        5,
      );
    const answers = await whileHeld('passwords', ['192.0.2.1', '192.0.2.2'], send);
    for (const { status } of answers) expect([400, 429]).toContain(status);
  });

  describe('exports', () => {
    const connections: RawConnection[] = [];

    interface Filled extends Settings {
      /** Path of an export that takes more than a connection's buffers. */
      path: string;
    }

    const makeFilled = async (): Promise<Filled> => {
      const settings = await makeSettings(service, dashboard, silentUrl);
      await service.query(
        `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, metadata, created_at)
         SELECT $1, id, 'filler', 'filler', 'filler', 'system', jsonb_build_object('text', repeat('x', 1024)), now()
         FROM unnest($2::uuid[]) AS filler (id)`,
        [settings.workspace.id, Array.from({ length: MANY_ENTRIES }, () => newId())],
      );
      return { ...settings, path: '/audit-entries/export' };
    };
    const makeFilledArchive = async (): Promise<Filled> => {
      const settings = await makeSettings(service, dashboard, silentUrl);
      const { id } = await service.make.contact(settings.workspace);
      const conversation = await service.make.conversation(settings.workspace, { contactId: id });
      const upload = { conversationId: conversation.id, name: 'large.bin', size: LARGE_FILE.length };
      const { body } = await settings.browser.post(pathOf(settings, '/uploads'), upload);
      await settings.browser.putBytes(pathOf(settings, `/uploads/${body.id}/content`), LARGE_FILE);
      const reply = { attachments: [{ uploadId: body.id }] };
      await settings.browser.post(pathOf(settings, `/conversations/${conversation.id}/messages`), reply);
      return { ...settings, path: `/contacts/${id}/export` };
    };
    afterEach(() => connections.splice(0).forEach((connection) => connection.destroy()));

    const startExport = async ({ browser, workspace, path }: Filled) => {
      const connection = await RawConnection.open(dashboard.baseUrl);
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const target = `/api/workspaces/${workspace.id}${path}`;
      connection.send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`);
      connections.push(connection);
      return connection;
    };

    const closedUnread = async () => {
      const { values } = await dashboard.get(Metrics).httpConnectionsClosed.get();
      return values.find(({ labels }) => labels.reason === 'unread_answer')?.value ?? 0;
    };

    /** Acquires both slots for exports of a workspace; null when one is in use. */
    const acquireBoth = async ({ workspace }: Settings) => {
      const acquire = () => dashboard.get(WorkBudgets).acquire('exports', workspace.id);
      const outcomes = await Promise.allSettled([acquire(), acquire()]);
      const releases = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      if (releases.length === 2) return releases;
      for (const release of releases) release();
      return null;
    };

    it.each([
      ['of the audit log', makeFilled],
      ['of a contact with a file', makeFilledArchive],
    ])('%s leave the slots to others when nobody reads them, and are cut', async (_, make) => {
      const before = await closedUnread();
      const filled = [await make(), await make()];
      for (const settings of filled) for (let n = 0; n < 5; n++) (await startExport(settings)).stopReading();
      await expectAllServed();
      await waitFor('an export to be cut', async () => (await closedUnread()) > before);
      for (const settings of filled) {
        const releases = await waitFor('the slots for exports', () => acquireBoth(settings));
        for (const release of releases) release();
      }
      await expectAllServed();
    });

    it('are refused with 429 above two in a workspace', async () => {
      const held = (await acquireBoth(quiet))!;
      const path = pathOf(quiet, '/audit-entries/export');
      expect(await quiet.browser.get(path)).toMatchObject({
        status: 429,
        body: {
          error: {
            code: 'RATE_LIMITED',
            message: 'Too many exports of this workspace at once. Retry in 1 s.',
            reason: 'too_many_at_once',
            values: { work: 'exports of this workspace' },
          },
        },
      });
      for (const release of held) release();
      expect(await quiet.browser.get(path)).toMatchObject({ status: 200 });
    });

    it('go on while they are read, however slowly', async () => {
      const before = await closedUnread();
      const download = await startExport(await makeFilled());
      await download.readSlowly(2_000_000, 9_000);
      expect(download.isClosed).toBe(false);
      expect(await closedUnread()).toBe(before);
    });

    it('are cut in the middle when they take too long, also while they are read', async () => {
      const downloads = dashboard.get(Downloads);
      const usual = downloads.maxMs.lines;
      const filled = await makeFilled();
      const before = await closedUnread();
      downloads.maxMs.lines = 1_500;
      try {
        const download = await startExport(filled);
        await download.readSlowly(2_000_000, 9_000);
        expect(download.isClosed).toBe(true);
        // A file that is cut has no last chunk, so it does not look complete.
        expect(download.text).toMatch(/^HTTP\/1\.1 200 /);
        expect(download.text.endsWith('\r\n0\r\n\r\n')).toBe(false);
        expect(await closedUnread()).toBe(before);
        const releases = await waitFor('the slots for exports', () => acquireBoth(filled));
        for (const release of releases) release();
      } finally {
        downloads.maxMs.lines = usual;
      }
    });
  });
});
