import { DashboardConfig } from './dashboard-config';

const from = (environment: Record<string, string>) => DashboardConfig.from(environment);

describe("the dashboard's configuration", () => {
  it('has defaults for this machine', () => {
    expect(from({})).toMatchObject({
      appOrigin: 'http://localhost:3100',
      isSecure: false,
      publicUrl: 'http://localhost:3000',
      http: { port: 3100, host: '0.0.0.0', trustProxy: false, logLevel: 'info' },
    });
  });

  it('takes an empty variable as not set', () => {
    expect(from({ APP_URL: '', PORT: '' })).toMatchObject({
      appOrigin: 'http://localhost:3100',
      http: { port: 3100 },
    });
  });

  it('passes on what the service needs', () => {
    const { messaging } = from({
      APP_URL: 'https://dashboard.example.com/',
      DATABASE_URL: 'postgresql://db/messaging',
      REDIS_URL: 'redis://redis',
      SECRETS_KEYS: 'a:b',
      SMTP_URL: 'smtp://mail',
      MAIL_FROM: 'login@example.com',
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,192.168.0.0/16',
      TELEGRAM_API_URL: 'http://localhost:9',
      DATABASE_PREPARED: 'off',
    });
    expect(messaging).toMatchObject({
      appUrl: 'https://dashboard.example.com',
      databaseUrl: 'postgresql://db/messaging',
      redisUrl: 'redis://redis',
      secretsKeys: 'a:b',
      smtpUrl: 'smtp://mail',
      mailFrom: 'login@example.com',
      webhookAllowedNetworks: ['10.0.0.0/8', '192.168.0.0/16'],
      providerUrls: { TELEGRAM_API_URL: 'http://localhost:9' },
      databasePrepared: false,
    });
  });

  it.each([
    [{ APP_URL: 'http://dashboard.example.com' }, 'APP_URL: must begin with https, but on this machine'],
    [{ APP_URL: 'http://localhost.example.com' }, 'APP_URL: must begin with https, but on this machine'],
    [{ APP_URL: 'https://example.com/dashboard' }, 'APP_URL: must be an origin alone'],
    [{ APP_URL: 'dashboard' }, 'APP_URL must be a URL address'],
    [{ PORT: '99999' }, 'PORT must not be greater than 65535'],
    [{ TRUST_PROXY: 'somebody' }, 'TRUST_PROXY: "somebody" is not an address or a network'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
  ])('refuses %j', (environment: Record<string, string>, fault) => {
    expect(() => from(environment)).toThrow(fault);
  });

  it('names every fault at once', () => {
    expect(() => from({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(/PORT[^]*LOG_LEVEL/);
  });
});
