import { PoolClient } from 'pg';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { Config } from '../../src/config/config';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { connectionOptions } from '../../src/database/data-source';
import { DatabasePool } from '../../src/database/driver/database-pool';
import { contradictions } from '../support/integrity';
import { print } from '../support/report';
import { TcpProxy } from '../support/tcp-proxy';
import { TestStream } from '../support/test-stream';
import { TestVisitor, TestWidget } from '../support/widget';
import { Failover, FailoverOptions } from './failover';

const isFull = process.env['TOPOLOGY'] === 'standby';
/** Messages before and after each step. */
const MESSAGES = isFull ? 200 : 20;
const READ_ONLY = '25006';

const SYNCHRONOUS: FailoverOptions[] = [
  { isSynchronous: true, address: 'hosts' },
  ...(isFull
    ? [
        { isSynchronous: true, address: 'proxy' } as const,
        { isSynchronous: true, address: 'hosts', isSilent: true } as const,
        { isSynchronous: true, address: 'proxy', isSilent: true } as const,
      ]
    : []),
];
const ASYNCHRONOUS: FailoverOptions[] = [
  ...(isFull ? [{ isSynchronous: false, address: 'hosts' } as const] : []),
  { isSynchronous: false, address: 'proxy' },
];

jest.setTimeout(180_000);

describe.each(SYNCHRONOUS)('a primary with a synchronous standby: %j', (options) => {
  let failover: Failover;

  beforeAll(async () => {
    failover = await Failover.start(options);
  });
  afterAll(() => failover.stop());

  const poolTo = (databaseUrl: string) =>
    new DatabasePool({
      ...connectionOptions({ ...failover.service.app.get(Config), databaseUrl }).extra,
      connectionTimeoutMillis: 500,
    });
  const connect = (pool: DatabasePool) => pool.connect() as Promise<PoolClient & DatabaseClient>;
  const several = (...urls: string[]) => {
    const [first] = urls.map((url) => new URL(url));
    const hosts = urls.map((url) => new URL(url).host);
    return `${first!.href.replace(first!.host, hosts.join())}?target_session_attrs=read-write`;
  };
  const isStandby = async (client: DatabaseClient) =>
    (await client.runStatement<{ is: boolean }>('SELECT pg_is_in_recovery() AS is', [])).rows[0]!.is;

  it('is found behind a host that does not answer, one that refuses, and a standby', async () => {
    const { primary, standby } = failover.pair.urls('databaseUrl');
    const silent = await TcpProxy.start(primary);
    const refusing = await TcpProxy.start(primary);
    silent.freeze();
    await refusing.cut();
    const pool = poolTo(several(silent.address, refusing.address, standby, primary));
    const client = await connect(pool);
    expect(await isStandby(client)).toBe(false);
    client.release();
    await pool.end();
    await silent.cut();
  });

  it('is missed with the reason; no other host is asked after an answer about the role', async () => {
    const { primary, standby } = failover.pair.urls('databaseUrl');
    const alone = poolTo(`${standby}?target_session_attrs=read-write`);
    await expect(alone.connect()).rejects.toMatchObject({ code: READ_ONLY, message: /takes no writes/ });
    await alone.end();
    const stranger = poolTo(several(Object.assign(new URL(primary), { username: 'stranger' }).href, standby));
    await expect(stranger.connect()).rejects.toMatchObject({ code: '28P01' });
    await stranger.end();
  });

  it('gets all connections after the first write that a standby refused', async () => {
    const { primary, standby } = failover.pair.urls('databaseUrl');
    const proxy = await TcpProxy.start(standby);
    const pool = poolTo(proxy.address);
    const [writer, idle] = [await connect(pool), await connect(pool)];
    idle.release();
    proxy.switchTo(primary);
    await expect(writer.runStatement('DELETE FROM workspaces WHERE false', [])).rejects.toMatchObject({
      driverError: { code: READ_ONLY },
    });
    writer.release();
    const clients = await Promise.all([connect(pool), connect(pool)]);
    expect(await Promise.all(clients.map(isStandby))).toEqual([false, false]);
    for (const client of clients) client.release();
    await pool.end();
    await proxy.cut();
  });

  it('dies, and no message answered with 201 is lost, nor its delivery', async () => {
    failover.startLoad();
    await failover.messages(MESSAGES);
    const ms = await failover.failOver();
    await failover.messages(MESSAGES);
    await failover.stopLoad();
    print(`From the promotion to the first write: ${ms} ms ${JSON.stringify(options)}`);

    expect(failover.client.unexpected).toEqual([]);
    expect(await failover.lostMessages()).toEqual([]);
    expect(await failover.undelivered()).toEqual([]);
    expect(await contradictions((sql) => failover.query(sql))).toEqual([]);
  });

  it('has a successor, with which the process is ready', async () => {
    const { status } = await failover.service.client.send({ method: 'GET', path: '/health/ready' });
    expect(status).toBe(200);
  });
});

describe.each(ASYNCHRONOUS)('an asynchronous standby that misses the end, and takes over: %j', (options) => {
  let failover: Failover;
  let visitor: TestVisitor;
  let stream: TestStream;
  let lost: string[];

  beforeAll(async () => {
    failover = await Failover.start(options);
    const { service, workspace } = failover;
    visitor = await (await TestWidget.connect(service, workspace)).visitor();
    await visitor.post('kept');
    stream = await visitor.stream();
    await stream.next('ready');
  });
  afterAll(async () => {
    stream.close();
    await failover.stop();
  });

  const agent = async () =>
    failover.service.client.as(await failover.service.make.apiKey(failover.workspace));
  const path = () => `/conversations/${failover.workspace.conversation.id}/messages`;

  async function send(key: string): Promise<{ id: string; isReplayed: boolean }> {
    const { status, body, headers } = await (
      await agent()
    ).post(path(), { body: key }, { 'idempotency-key': key });
    expect(status).toBe(201);
    return { id: body.message.id, isReplayed: headers['idempotency-replayed'] === 'true' };
  }

  const listed = async () =>
    ((await (await agent()).get(path())).body.data as { id: string }[]).map(({ id }) => id);

  it('does a lost request again by its key, and not one that was kept', async () => {
    failover.startLoad();
    const kept = await send('kept');
    await failover.messages(MESSAGES);
    await failover.pair.holdReplication();
    await failover.messages(MESSAGES);
    const gone = await send('gone');
    expect((await visitor.post('gone')).status).toBe(201);
    await stream.next('message', 1);

    const ms = await failover.failOver();
    print(`From the promotion to the first write: ${ms} ms ${JSON.stringify(options)}`);
    expect(await listed()).toEqual([kept.id]);
    expect(await send('kept')).toEqual({ id: kept.id, isReplayed: true });
    const again = await send('gone');
    expect(again.isReplayed).toBe(false);
    // Ids hold the time, so they rise across the failover.
    expect(again.id > gone.id).toBe(true);
    expect(await listed()).toEqual([again.id, kept.id]);
  });

  it('delivers all that is there, without a contradiction', async () => {
    await failover.messages(MESSAGES);
    await failover.stopLoad();
    expect(failover.client.unexpected).toEqual([]);
    lost = await failover.lostMessages();
    print(`Lost: ${lost.length} of ${failover.ledger.promised.size} messages answered with 201`);
    expect(lost.length).toBeGreaterThan(0);
    expect(await failover.undelivered()).toEqual([]);
    expect(await contradictions((sql) => failover.query(sql))).toEqual([]);
  });

  it('gives sequences again: of two messages the one with the higher id is there', async () => {
    const kept = new Set(
      (await failover.query<{ id: string }>('SELECT id FROM messages')).map(({ id }) => id),
    );
    const bySequence = new Map<string, string[]>();
    for (const { envelope, headers } of failover.receiver.received()) {
      const { conversationId, message } = envelope.data as {
        conversationId: string;
        message: { id: string };
      };
      const place = `${conversationId} ${headers['x-service-sequence'] as string}`;
      bySequence.set(place, [...new Set([...(bySequence.get(place) ?? []), message.id])].sort());
    }
    const repeated = [...bySequence.values()].filter(({ length }) => length > 1);
    expect(repeated.length).toBeGreaterThan(0);
    for (const ids of repeated) expect(ids.map((id) => kept.has(id))).toEqual([false, true]);
  });

  it('sends a webhook again with the id that it had', () => {
    const ids = new Map<string, Set<unknown>>();
    for (const { envelope, headers } of failover.receiver.received()) {
      const { id } = envelope.data.message as { id: string };
      ids.set(id, (ids.get(id) ?? new Set()).add(headers['x-service-delivery']));
    }
    expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
  });

  it('shows a visitor a lower sequence, and takes a lost message again', async () => {
    const [seen] = stream.listEvents('message').map(({ data }) => data.sequence as number);
    const heartbeats = stream.listEvents('heartbeat').length;
    await failover.service.app.get(VisitorStreams, { strict: false }).sendHeartbeats();
    const { data } = await stream.next('heartbeat', heartbeats + 1);
    expect(data.sequence).toBeLessThan(seen!);
    const history = async () => {
      const { body } = await visitor.history();
      return (body.data as { id: string }[]).length;
    };
    expect(await history()).toBe(1);
    expect((await visitor.post('gone')).status).toBe(201);
    expect((await visitor.post('gone')).status).toBe(200);
    expect((await visitor.post('kept')).status).toBe(200);
    expect(await history()).toBe(2);
    expect((await stream.next('message', 2)).data).toMatchObject({ sequence: seen });
  });
});
