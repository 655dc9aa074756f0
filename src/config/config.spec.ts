import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateVAPIDKeys } from 'web-push';
import { Config, ConfigError } from './config';

const KEY = Buffer.alloc(32, 1).toString('base64');
const NEXT_KEY = Buffer.alloc(32, 2).toString('base64');
const VAPID = generateVAPIDKeys();
const REQUIRED = {
  DATABASE_URL: 'postgresql://localhost/messaging',
  REDIS_URL: 'redis://localhost',
  SECRETS_KEYS: `one:${KEY}`,
};

function faultsOf(environment: NodeJS.ProcessEnv): string[] {
  try {
    Config.from(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('Config', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has a default for everything but the servers and keys', () => {
    expect(Config.from({ ...REQUIRED, DATA_DIR: folder })).toMatchObject({
      role: 'all',
      http: {
        port: 3000,
        host: '0.0.0.0',
        trustProxy: false,
        limits: {
          maxConnections: 5000,
          maxStreams: 5000,
          maxUnfinishedBytes: 64 * 1024 * 1024,
          headTimeoutMs: 10_000,
          bodyTimeoutMs: 30_000,
          idleTimeoutMs: 75_000,
        },
        shutdownDelayMs: 500,
        logLevel: 'info',
      },
      metricsPort: null,
      retentionDays: 30,
      workspaceQuotas: { contacts: 1_000_000, messages: 10_000_000, bytes: 20 * 1024 ** 3 },
      apiKeyMaxLifeDays: null,
      databaseUrl: REQUIRED.DATABASE_URL,
      databaseOwnerUrl: null,
      databaseDirectUrl: null,
      databasePoolSize: 20,
      databasePrepared: true,
      requestConcurrency: 20,
      searchConcurrency: 5,
      hookConcurrency: 10,
      widgetConcurrency: 10,
      answerMailSeconds: 300,
      widgetNewVisitors: 3000,
      widgetMessages: 1200,
      redis: { kind: 'server', url: REQUIRED.REDIS_URL },
      appUrl: 'http://localhost:3000',
      mail: null,
      vapid: null,
      publicUrl: 'http://localhost:3000',
      providerUrls: {
        TELEGRAM_API_URL: 'https://api.telegram.org',
        META_GRAPH_URL: 'https://graph.facebook.com',
        INSTAGRAM_GRAPH_URL: 'https://graph.instagram.com',
      },
      metaGraphVersion: 'v25.0',
      secretsKeys: [{ id: 'one', key: Buffer.alloc(32, 1) }],
      webhookAllowedNetworks: [],
      webhookDeniedNetworks: [],
      webhookExtraCa: undefined,
      webhookDnsServers: [],
      webhookConcurrency: 1000,
      webhookEndpointConcurrency: 100,
      webhookSlowConcurrency: 200,
      crossWorkspaceBatches: true,
    });
  });

  it('takes a provider’s address that is undefined as one that is not set', () => {
    const { providerUrls } = Config.from({ ...REQUIRED, DATA_DIR: folder, TELEGRAM_API_URL: undefined });
    expect(providerUrls.TELEGRAM_API_URL).toBe('https://api.telegram.org');
  });

  it('reads every variable', () => {
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, 'PEM');
    const config = Config.from({
      ROLE: 'worker',
      PORT: '8080',
      METRICS_PORT: '9464',
      RETENTION_DAYS: '7',
      WORKSPACE_QUOTA_CONTACTS: '48',
      WORKSPACE_QUOTA_MESSAGES: '49',
      WORKSPACE_QUOTA_MEBIBYTES: '2',
      API_KEY_MAX_LIFE_DAYS: '90',
      HOST: '127.0.0.1',
      HTTP_MAX_CONNECTIONS: '100',
      HTTP_HEAD_TIMEOUT_MS: '2000',
      HTTP_BODY_TIMEOUT_MS: '4000',
      HTTP_IDLE_TIMEOUT_MS: '60000',
      SHUTDOWN_DELAY_MS: '5000',
      HTTP_MAX_UNFINISHED_BYTES: '8388608',
      DATABASE_URL: 'postgres://db.example.com/messages',
      DATABASE_OWNER_URL: 'postgres://owner@db.example.com/messages',
      DATABASE_DIRECT_URL: 'postgres://owner@one,two:5433/messages?target_session_attrs=read-write',
      DATABASE_PREPARED: 'off',
      DATABASE_POOL_SIZE: '5',
      REQUEST_CONCURRENCY: '41',
      SEARCH_CONCURRENCY: '42',
      HOOK_CONCURRENCY: '43',
      WIDGET_CONCURRENCY: '44',
      WIDGET_STREAMS: '45',
      ANSWER_MAIL_SECONDS: '60',
      WIDGET_NEW_VISITORS: '46',
      WIDGET_MESSAGES: '47',
      REDIS_URL: 'rediss://cache.example.com:6380/2',
      APP_URL: 'https://dashboard.example.com',
      SMTP_URL: 'smtps://user:password@mail.example.com',
      MAIL_FROM: 'Acme <login@example.com>',
      VAPID_PUBLIC_KEY: VAPID.publicKey,
      VAPID_PRIVATE_KEY: VAPID.privateKey,
      VAPID_CONTACT: 'mailto:ops@example.com',
      PUBLIC_URL: 'https://api.example.com/',
      TELEGRAM_API_URL: 'https://telegram.example.com/',
      META_GRAPH_URL: 'https://meta.example.com',
      INSTAGRAM_GRAPH_URL: 'https://instagram.example.com/graph/',
      META_GRAPH_VERSION: 'v26.1',
      SECRETS_KEYS: `new:${NEXT_KEY},old:${KEY}`,
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8',
      WEBHOOK_DENIED_NETWORKS: '10.1.0.0/16,192.88.5.0/24',
      WEBHOOK_EXTRA_CA_FILE: caFile,
      WEBHOOK_DNS_SERVERS: '192.0.2.53, 127.0.0.1:5353',
      WEBHOOK_CONCURRENCY: '7',
      WEBHOOK_ENDPOINT_CONCURRENCY: '3',
      WEBHOOK_SLOW_CONCURRENCY: '2',
      CROSS_WORKSPACE_BATCHES: 'false',
      TRUST_PROXY: 'loopback, 10.0.0.0/8',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
    });

    expect(config).toMatchObject({
      role: 'worker',
      http: {
        port: 8080,
        host: '127.0.0.1',
        trustProxy: 'loopback, 10.0.0.0/8',
        limits: {
          maxConnections: 100,
          maxStreams: 45,
          maxUnfinishedBytes: 8_388_608,
          headTimeoutMs: 2000,
          bodyTimeoutMs: 4000,
          idleTimeoutMs: 60_000,
        },
        shutdownDelayMs: 5_000,
        logLevel: 'warn',
      },
      metricsPort: 9464,
      retentionDays: 7,
      workspaceQuotas: { contacts: 48, messages: 49, bytes: 2_097_152 },
      apiKeyMaxLifeDays: 90,
      databaseUrl: 'postgres://db.example.com/messages',
      databaseOwnerUrl: 'postgres://owner@db.example.com/messages',
      databaseDirectUrl: 'postgres://owner@one,two:5433/messages?target_session_attrs=read-write',
      databasePoolSize: 5,
      databasePrepared: false,
      requestConcurrency: 41,
      searchConcurrency: 42,
      hookConcurrency: 43,
      widgetConcurrency: 44,
      answerMailSeconds: 60,
      widgetNewVisitors: 46,
      widgetMessages: 47,
      redis: { kind: 'server', url: 'rediss://cache.example.com:6380/2' },
      appUrl: 'https://dashboard.example.com',
      mail: { smtpUrl: 'smtps://user:password@mail.example.com', from: 'Acme <login@example.com>' },
      vapid: { ...VAPID, subject: 'mailto:ops@example.com' },
      publicUrl: 'https://api.example.com',
      providerUrls: {
        TELEGRAM_API_URL: 'https://telegram.example.com',
        META_GRAPH_URL: 'https://meta.example.com',
        INSTAGRAM_GRAPH_URL: 'https://instagram.example.com/graph',
      },
      metaGraphVersion: 'v26.1',
      secretsKeys: [
        { id: 'new', key: Buffer.alloc(32, 2) },
        { id: 'old', key: Buffer.alloc(32, 1) },
      ],
      webhookAllowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
      webhookDeniedNetworks: ['10.1.0.0/16', '192.88.5.0/24'],
      webhookExtraCa: 'PEM',
      webhookDnsServers: ['192.0.2.53', '127.0.0.1:5353'],
      webhookConcurrency: 7,
      webhookEndpointConcurrency: 3,
      webhookSlowConcurrency: 2,
      crossWorkspaceBatches: false,
    });
  });

  it('names every fault at once', () => {
    const faulty = {
      ROLE: 'boss',
      PORT: '70000',
      METRICS_PORT: 'none',
      RETENTION_DAYS: '0',
      WORKSPACE_QUOTA_CONTACTS: '0',
      WORKSPACE_QUOTA_MESSAGES: 'many',
      WORKSPACE_QUOTA_MEBIBYTES: '0.5',
      HTTP_MAX_CONNECTIONS: '1',
      HTTP_HEAD_TIMEOUT_MS: 'soon',
      HTTP_BODY_TIMEOUT_MS: '0',
      HTTP_IDLE_TIMEOUT_MS: '1.5',
      HTTP_MAX_UNFINISHED_BYTES: '1',
      API_KEY_MAX_LIFE_DAYS: 'never',
      DATABASE_URL: 'mysql://localhost/messaging',
      DATABASE_OWNER_URL: 'mysql://localhost/messaging',
      DATABASE_DIRECT_URL: 'postgresql://one,two/messaging',
      DATABASE_PREPARED: 'maybe',
      REDIS_URL: 'localhost:6379',
      APP_URL: 'nowhere',
      PUBLIC_URL: 'nowhere',
      VAPID_PUBLIC_KEY: 'short',
      VAPID_PRIVATE_KEY: `${VAPID.privateKey}=`,
      VAPID_CONTACT: 'ops@example.com',
      TELEGRAM_API_URL: 'nowhere',
      META_GRAPH_URL: 'nowhere',
      INSTAGRAM_GRAPH_URL: 'nowhere',
      META_GRAPH_VERSION: '25',
      SECRETS_KEYS: 'one:short',
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,10.0.0.1',
      WEBHOOK_DENIED_NETWORKS: '010.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: join(folder, 'missing.pem'),
      WEBHOOK_DNS_SERVERS: '192.0.2.53, ns.example.com',
      WEBHOOK_CONCURRENCY: '0',
      WEBHOOK_ENDPOINT_CONCURRENCY: 'many',
      TRUST_PROXY: 'everybody',
      LOG_LEVEL: 'loud',
      DATABASE_POOL_SIZE: '1.5',
    };

    const faults = faultsOf(faulty);

    for (const name of Object.keys(faulty)) {
      expect(faults).toContainEqual(expect.stringContaining(name));
    }
    expect(() => Config.from(faulty)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`${faults.length} fault(s)`) }),
    );
  });

  it('takes the keys of Web Push together, and only a pair', () => {
    const keys = {
      VAPID_PUBLIC_KEY: VAPID.publicKey,
      VAPID_PRIVATE_KEY: VAPID.privateKey,
      VAPID_CONTACT: 'https://example.com/ops',
    };
    expect(Config.from({ ...REQUIRED, ...keys }).vapid).toEqual({
      ...VAPID,
      subject: 'https://example.com/ops',
    });
    for (const name of Object.keys(keys))
      expect(faultsOf({ ...REQUIRED, ...keys, [name]: undefined })).toEqual([
        'VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY and VAPID_CONTACT must be set together',
      ]);
    const others = generateVAPIDKeys();
    expect(faultsOf({ ...REQUIRED, ...keys, VAPID_PRIVATE_KEY: others.privateKey })).toEqual([
      'VAPID_PRIVATE_KEY is not the private key of VAPID_PUBLIC_KEY',
    ]);
    const none = Buffer.alloc(32).toString('base64url');
    expect(faultsOf({ ...REQUIRED, ...keys, VAPID_PRIVATE_KEY: none })).toEqual([
      expect.stringContaining('VAPID_PRIVATE_KEY'),
    ]);
    for (const contact of ['mailto:', 'mailto:nobody', 'http://example.com', 'tel:123'])
      expect(faultsOf({ ...REQUIRED, ...keys, VAPID_CONTACT: contact })[0]).toContain('VAPID_CONTACT');
  });

  it('does not let a head take longer than its body', () => {
    const timeouts = { HTTP_HEAD_TIMEOUT_MS: '5001', HTTP_BODY_TIMEOUT_MS: '5000' };
    expect(faultsOf({ ...REQUIRED, ...timeouts })).toEqual([
      'HTTP_HEAD_TIMEOUT_MS must not be longer than HTTP_BODY_TIMEOUT_MS',
    ]);
  });

  it('says of each server that is not set', () => {
    expect(faultsOf({ SECRETS_KEYS: REQUIRED.SECRETS_KEYS, DATA_DIR: folder })).toEqual([
      'DATABASE_URL is not set',
      'REDIS_URL is not set',
    ]);
  });

  it('takes an empty variable as one that is not set', () => {
    const config = Config.from({ ...REQUIRED, DATA_DIR: folder, PORT: '', LOG_LEVEL: '', APP_URL: '' });
    expect(config).toMatchObject({
      http: { port: 3000, logLevel: 'info' },
      appUrl: 'http://localhost:3000',
    });
  });

  it.each([
    ['', false],
    ['false', false],
    ['true', true],
    ['2', 2],
    ['loopback', 'loopback'],
    ['10.0.0.0/8, 192.168.1.1', '10.0.0.0/8, 192.168.1.1'],
  ])('takes TRUST_PROXY=%s as Express does', (TRUST_PROXY, trustProxy) => {
    expect(Config.from({ ...REQUIRED, TRUST_PROXY }).http).toMatchObject({ trustProxy });
  });

  it.each(['DATABASE_OWNER_URL', 'DATABASE_DIRECT_URL'])('refuses %s in an API process', (name) => {
    const given = { ...REQUIRED, [name]: 'postgresql://owner:secret@localhost/messaging' };
    expect(faultsOf({ ...given, ROLE: 'worker' })).toEqual([]);
    expect(faultsOf({ ...given, ROLE: 'api' })).toEqual([
      `${name}: must not be set with ROLE=api: only workers and "migrate" act as the owner`,
    ]);
  });

  it('does not repeat a faulty key', () => {
    const misplaced = Buffer.alloc(31, 3).toString('base64');
    expect(faultsOf({ ...REQUIRED, SECRETS_KEYS: `one:${misplaced}` }).join()).not.toContain(misplaced);
  });

  describe('without SECRETS_KEYS', () => {
    const { DATABASE_URL, REDIS_URL } = REQUIRED;

    it('makes a key outside production, and uses the same one from then on', () => {
      const environment = { DATABASE_URL, REDIS_URL, DATA_DIR: join(folder, 'data') };
      const [made] = Config.from(environment).secretsKeys;
      const file = join(folder, 'data', 'secrets-keys');

      expect(made!.key).toHaveLength(32);
      expect(Config.from(environment).secretsKeys).toEqual([made]);
      expect(readFileSync(file, 'utf8').trim()).toBe(`${made!.id}:${made!.key.toString('base64')}`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    });

    it('makes another key for another folder', () => {
      const keyIn = (name: string) =>
        Config.from({ DATABASE_URL, REDIS_URL, DATA_DIR: join(folder, name) }).secretsKeys[0]!.key;
      expect(keyIn('a').equals(keyIn('b'))).toBe(false);
    });

    it('does not start in production', () => {
      const faults = faultsOf({ DATABASE_URL, REDIS_URL, DATA_DIR: folder, NODE_ENV: 'production' });
      expect(faults).toEqual([expect.stringMatching(/^SECRETS_KEYS: must be set in production/)]);
    });
  });

  describe('beside embedded servers', () => {
    const servers = {
      databaseUrl: 'postgresql://service@embedded/one',
      databaseOwnerUrl: 'postgresql://owner@embedded/one',
      redisUrl: 'redis://embedded',
    };
    const addresses = {
      publicUrl: 'http://localhost:3001',
      providerUrls: {
        TELEGRAM_API_URL: 'http://127.0.0.1:4001',
        META_GRAPH_URL: 'http://127.0.0.1:4002',
        INSTAGRAM_GRAPH_URL: 'http://127.0.0.1:4003',
      },
    };

    const { redisUrl, ...databases } = servers;
    const expected = { ...databases, redis: { kind: 'server', url: redisUrl } };

    beforeEach(() => writeFileSync(join(folder, 'servers.json'), JSON.stringify(servers)));

    it('joins them while they run', () => {
      const { SECRETS_KEYS } = REQUIRED;
      expect(Config.from({ SECRETS_KEYS, DATA_DIR: folder })).toMatchObject(expected);
    });

    it('prefers the servers that are set', () => {
      expect(Config.from({ ...REQUIRED, DATA_DIR: folder })).toMatchObject({
        databaseUrl: REQUIRED.DATABASE_URL,
        databaseOwnerUrl: null,
        redis: { kind: 'server', url: REQUIRED.REDIS_URL },
      });
    });

    it('gives an API process only the address of the service’s role', () => {
      const { SECRETS_KEYS } = REQUIRED;
      expect(Config.from({ SECRETS_KEYS, DATA_DIR: folder, ROLE: 'api' })).toMatchObject({
        ...expected,
        databaseOwnerUrl: null,
      });
    });

    describe('with a service on them', () => {
      const { SECRETS_KEYS } = REQUIRED;

      beforeEach(() =>
        writeFileSync(join(folder, 'servers.json'), JSON.stringify({ ...servers, ...addresses })),
      );

      it('goes by its addresses, but for those that are set', () => {
        const given = { SECRETS_KEYS, DATA_DIR: folder, META_GRAPH_URL: 'https://meta.example.com' };
        expect(Config.from(given)).toMatchObject({
          ...expected,
          ...addresses,
          providerUrls: { ...addresses.providerUrls, META_GRAPH_URL: 'https://meta.example.com' },
        });
      });

      it('does not, with another database', () => {
        expect(Config.from({ ...REQUIRED, DATA_DIR: folder })).toMatchObject({
          publicUrl: 'http://localhost:3000',
          providerUrls: { TELEGRAM_API_URL: 'https://api.telegram.org' },
        });
      });
    });
  });
});
