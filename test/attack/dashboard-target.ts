import { mkdtempSync } from 'node:fs';
import { once } from 'node:events';
import { AddressInfo, createServer, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { DnsStub } from '../support/dns-stub';
import { Logins } from '../support/logins';
import { MessagingHost } from '../support/messaging-host';
import { ProcessUsage } from '../support/process-usage';
import { ServiceProcess } from '../support/service-process';
import { createStores, dropStores } from '../support/test-database';
import { AttackAnswer, Answers } from './answers';
import { AttackSizes } from './sizes';
import { SMALL_HEAP, Target } from './target';
import { Witness } from './witness';

const MAIN = resolve(__dirname, '../../dashboard/dist/server/main.js');
/** Names that the name server never answers. */
const SILENT_NAMES = Array.from({ length: 20 }, (_, n) => `silent-${n}.example.com`);
/** Number of a workspace's audit entries of 1 KiB, which are more than a connection's buffers hold. */
const ENTRIES = 20_000;
const WORKSPACES = 2;
const PEOPLE = 3;

/** Workspace of the attacker, and the cookies of its people. */
export interface AttackerWorkspace {
  id: string;
  cookies: string[];
  /** Endpoint whose receiver accepts connections and never answers. */
  endpointId: string;
}

/** Means of the attacker: two workspaces with three managers each. */
export interface DashboardFoothold {
  workspaces: AttackerWorkspace[];
  silentNames: string[];
}

/** One process of the dashboard. The witness reads pages of one workspace, and the attacker has others. */
export class DashboardTarget implements Target<DashboardFoothold> {
  readonly name = 'dashboard';
  readonly usage: ProcessUsage;
  readonly deaths: string[] = [];
  readonly answers = new Answers({ checkError });
  private isStopping = false;

  private constructor(
    readonly logFolder: string,
    private readonly process: ServiceProcess,
    readonly witness: Witness,
    readonly foothold: DashboardFoothold,
    readonly host: MessagingHost,
    private readonly outside: Outside,
  ) {
    this.usage = new ProcessUsage([{ name: this.name, pid: process.pid }]);
    void process.exited.then(({ code, signal }) => {
      if (!this.isStopping) this.deaths.push(`the dashboard ended with ${signal ?? code}`);
    });
  }

  static async start({ env }: AttackSizes): Promise<DashboardTarget> {
    const stores = await createStores();
    const host = await MessagingHost.create({ beside: { stores } });
    const logins = new Logins(host);
    const outside = await Outside.start();
    const witness = await Witness.start();
    const workspaces: AttackerWorkspace[] = [];
    for (let n = 0; n < WORKSPACES; n++) workspaces.push(await makeWorkspace(host, logins, outside));
    const all = {
      NODE_OPTIONS: SMALL_HEAP,
      TRUST_PROXY: 'loopback',
      WEBHOOK_DNS_SERVERS: outside.nameServer,
      ...env,
    };
    const logFolder = mkdtempSync(join(tmpdir(), 'dashboard-attack-logs-'));
    const logFile = join(logFolder, 'dashboard.log');
    const process = await ServiceProcess.start('api', stores, all, { main: MAIN, logFile });
    const foothold = { workspaces, silentNames: SILENT_NAMES };
    await beginWitness(witness, process.url, host, logins);
    return new DashboardTarget(logFolder, process, witness, foothold, host, outside);
  }

  get url(): string {
    return this.process.url;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.usage.stop();
    this.witness.stop();
    this.process.kill('SIGKILL');
    await this.process.exited;
    await this.outside.stop();
    await this.host.close();
    await dropStores(this.host.stores);
  }
}

/** A name server and a receiver that accept everything and answer nothing. */
class Outside {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly dns: DnsStub,
    private readonly receiver: Server,
  ) {
    receiver.on('connection', (socket: Socket) => this.sockets.add(socket.on('error', () => undefined)));
  }

  static async start(): Promise<Outside> {
    const dns = await DnsStub.start();
    for (const name of SILENT_NAMES) dns.set(name, { A: 'SILENCE', AAAA: 'SILENCE' });
    const receiver = createServer().listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    return new Outside(dns, receiver);
  }

  get nameServer(): string {
    return this.dns.server;
  }

  get receiverUrl(): string {
    return `https://127.0.0.1:${(this.receiver.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.receiver.close();
    await this.dns.stop();
  }
}

async function makeWorkspace(
  host: MessagingHost,
  logins: Logins,
  { receiverUrl }: Outside,
): Promise<AttackerWorkspace> {
  const workspace = await host.make.workspace();
  const cookies: string[] = [];
  for (let n = 0; n < PEOPLE; n++) cookies.push(cookieOf(await logins.member(workspace)));
  const endpoint = { url: receiverUrl, events: ['*'] };
  const { id: endpointId } = await host.get(WebhookEndpointsService).create(workspace.id, endpoint, SYSTEM);
  await host.query(
    `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, metadata, created_at)
     SELECT $1, id, 'filler', 'filler', 'filler', 'system', jsonb_build_object('text', repeat('x', 1024)), now()
     FROM unnest($2::uuid[]) AS filler (id)`,
    [workspace.id, Array.from({ length: ENTRIES }, () => newId())],
  );
  return { id: workspace.id, cookies, endpointId };
}

async function beginWitness(
  witness: Witness,
  url: string,
  host: MessagingHost,
  logins: Logins,
): Promise<void> {
  const workspace = await host.make.workspace();
  const cookie = cookieOf(await logins.member(workspace));
  const below = (path: string) => `/api/workspaces/${workspace.id}${path}`;
  const paths = ['/overview', '/agents', '/api-keys', '/webhook-endpoints', '/channels', '/audit-entries'];
  await witness.begin({ url, cookie, paths: ['/api/session', ...paths.map(below), '/login'] });
}

function cookieOf({ token }: { token: string }): string {
  return `session=${token}`;
}

function checkError(what: string, { body, headers }: AttackAnswer): void {
  const { code, message, requestId } = (body as { error?: Record<string, unknown> } | null)?.error ?? {};
  const isWhole =
    typeof code === 'string' && typeof message === 'string' && requestId === headers['x-request-id'];
  if (!isWhole) throw new Error(`${what}, but not in the form of an error: ${JSON.stringify(body)}`);
}
