import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config, ConfigError } from './config';

const KEY = Buffer.alloc(32, 1).toString('base64');
const NEXT_KEY = Buffer.alloc(32, 2).toString('base64');
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
    expect(Config.from({ ...REQUIRED, DATA_DIR: folder })).toEqual({
      role: 'all',
      port: 3000,
      metricsPort: null,
      retentionDays: 30,
      host: '0.0.0.0',
      databaseUrl: REQUIRED.DATABASE_URL,
      databasePoolSize: 20,
      redisUrl: REQUIRED.REDIS_URL,
      appUrl: 'http://localhost:3000',
      publicUrl: 'http://localhost:3000',
      providerUrls: {
        TELEGRAM_API_URL: 'https://api.telegram.org',
        META_GRAPH_URL: 'https://graph.facebook.com',
        INSTAGRAM_GRAPH_URL: 'https://graph.instagram.com',
      },
      metaGraphVersion: 'v25.0',
      secretsKeys: [{ id: 'one', key: Buffer.alloc(32, 1) }],
      webhookAllowedNetworks: [],
      webhookExtraCa: undefined,
      webhookDnsServers: [],
      webhookConcurrency: 1000,
      webhookEndpointConcurrency: 10,
      webhookSlowConcurrency: 200,
      crossWorkspaceBatches: true,
      trustProxy: false,
      logLevel: 'info',
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
      HOST: '127.0.0.1',
      DATABASE_URL: 'postgres://db.example.com/messages',
      DATABASE_POOL_SIZE: '5',
      REDIS_URL: 'rediss://cache.example.com:6380/2',
      APP_URL: 'https://dashboard.example.com',
      PUBLIC_URL: 'https://api.example.com/',
      TELEGRAM_API_URL: 'https://telegram.example.com/',
      META_GRAPH_URL: 'https://meta.example.com',
      INSTAGRAM_GRAPH_URL: 'https://instagram.example.com/graph/',
      META_GRAPH_VERSION: 'v26.1',
      SECRETS_KEYS: `new:${NEXT_KEY},old:${KEY}`,
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8',
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

    expect(config).toEqual({
      role: 'worker',
      port: 8080,
      metricsPort: 9464,
      retentionDays: 7,
      host: '127.0.0.1',
      databaseUrl: 'postgres://db.example.com/messages',
      databasePoolSize: 5,
      redisUrl: 'rediss://cache.example.com:6380/2',
      appUrl: 'https://dashboard.example.com',
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
      webhookExtraCa: 'PEM',
      webhookDnsServers: ['192.0.2.53', '127.0.0.1:5353'],
      webhookConcurrency: 7,
      webhookEndpointConcurrency: 3,
      webhookSlowConcurrency: 2,
      crossWorkspaceBatches: false,
      trustProxy: 'loopback, 10.0.0.0/8',
      logLevel: 'warn',
    });
  });

  it('names every fault at once', () => {
    const faulty = {
      ROLE: 'boss',
      PORT: '70000',
      METRICS_PORT: 'none',
      RETENTION_DAYS: '0',
      DATABASE_URL: 'mysql://localhost/messaging',
      REDIS_URL: 'localhost:6379',
      APP_URL: 'nowhere',
      PUBLIC_URL: 'nowhere',
      TELEGRAM_API_URL: 'nowhere',
      META_GRAPH_URL: 'nowhere',
      INSTAGRAM_GRAPH_URL: 'nowhere',
      META_GRAPH_VERSION: '25',
      SECRETS_KEYS: 'one:short',
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,10.0.0.1',
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

  it('says of each server that is not set', () => {
    expect(faultsOf({ SECRETS_KEYS: REQUIRED.SECRETS_KEYS, DATA_DIR: folder })).toEqual([
      'DATABASE_URL is not set',
      'REDIS_URL is not set',
    ]);
  });

  it('takes an empty variable as one that is not set', () => {
    const config = Config.from({ ...REQUIRED, DATA_DIR: folder, PORT: '', LOG_LEVEL: '', APP_URL: '' });
    expect(config).toMatchObject({ port: 3000, logLevel: 'info', appUrl: 'http://localhost:3000' });
  });

  it.each([
    ['', false],
    ['false', false],
    ['true', true],
    ['2', 2],
    ['loopback', 'loopback'],
    ['10.0.0.0/8, 192.168.1.1', '10.0.0.0/8, 192.168.1.1'],
  ])('takes TRUST_PROXY=%s as Express does', (TRUST_PROXY, trustProxy) => {
    expect(Config.from({ ...REQUIRED, TRUST_PROXY })).toMatchObject({ trustProxy });
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
    const servers = { databaseUrl: 'postgresql://embedded/one', redisUrl: 'redis://embedded' };
    const addresses = {
      publicUrl: 'http://localhost:3001',
      providerUrls: {
        TELEGRAM_API_URL: 'http://127.0.0.1:4001',
        META_GRAPH_URL: 'http://127.0.0.1:4002',
        INSTAGRAM_GRAPH_URL: 'http://127.0.0.1:4003',
      },
    };

    beforeEach(() => writeFileSync(join(folder, 'servers.json'), JSON.stringify(servers)));

    it('joins them while they run', () => {
      const { SECRETS_KEYS } = REQUIRED;
      expect(Config.from({ SECRETS_KEYS, DATA_DIR: folder })).toMatchObject(servers);
    });

    it('prefers the servers that are set', () => {
      expect(Config.from({ ...REQUIRED, DATA_DIR: folder })).toMatchObject({
        databaseUrl: REQUIRED.DATABASE_URL,
        redisUrl: REQUIRED.REDIS_URL,
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
          ...servers,
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
