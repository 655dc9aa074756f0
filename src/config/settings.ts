import { CHANNELS, describeChannel, PROVIDER_URLS, ProviderVariable } from '../common/channel-descriptors';
import { DEFAULT_DATA_DIR } from './local-data';
import {
  databaseAddress,
  flag,
  graphVersion,
  httpAddress,
  logLevel,
  mailSender,
  mailServer,
  nameServers,
  networks,
  oneOf,
  Reader,
  text,
  trustProxy,
  vapidContact,
  vapidPrivateKey,
  vapidPublicKey,
  whole,
} from './setting-readers';

type Default<Value> = string | ((earlier: Record<string, unknown>) => Value);

export interface Setting<Value> {
  variable: string;
  read: Reader<Value>;
  /** Default: a text, or computed from settings above this one in the table; null if there is none. */
  default: Default<Value> | null;
  meaning: string;
}

function setting<Value>(
  variable: string,
  read: Reader<Value>,
  otherwise: Default<Value>,
  { meaning }: { meaning: string },
): Setting<Value> {
  return { variable, read, default: otherwise, meaning };
}

/** Describes a setting without a default: the value is null if the variable is not set. */
function optional<Value>(
  variable: string,
  read: Reader<Value>,
  { meaning }: { meaning: string },
): Setting<Value | null> {
  return { variable, read, default: null, meaning };
}

/** Makes a default that is the number of another setting divided by `divisor`, rounded up. */
const partOf =
  (name: 'databasePoolSize' | 'webhookConcurrency', divisor: number): Default<number> =>
  (earlier) =>
    Math.ceil(Number(earlier[name]) / divisor);

const concurrency = whole(1, 10_000);

/** Settings of every process that serves HTTP. */
export const HTTP_SETTINGS = {
  port: setting('PORT', whole(0, 65_535), '3000', {
    meaning: 'where the process listens; 0 picks a free port',
  }),
  host: setting('HOST', text, '0.0.0.0', {
    meaning:
      'the address it listens on; the images: all. `npm start` and `npm run demo` listen on `127.0.0.1` unless it is set',
  }),
  httpMaxConnections: setting('HTTP_MAX_CONNECTIONS', whole(10, 100_000), '5000', {
    meaning: 'connections of clients to one process, 10 to 100000; event streams count apart',
  }),
  httpHeadTimeoutMs: setting('HTTP_HEAD_TIMEOUT_MS', whole(100, 600_000), '10000', {
    meaning: "from a request's first byte to the end of its head",
  }),
  httpBodyTimeoutMs: setting('HTTP_BODY_TIMEOUT_MS', whole(100, 600_000), '30000', {
    meaning:
      "from a request's first byte to the end of its body; and for an answer that the client does not read",
  }),
  httpIdleTimeoutMs: setting('HTTP_IDLE_TIMEOUT_MS', whole(100, 3_600_000), '75000', {
    meaning: 'from an answer to the next request; longer than the proxy in front keeps a connection',
  }),
  shutdownDelayMs: setting('SHUTDOWN_DELAY_MS', whole(0, 60_000), '500', {
    meaning:
      'how long an API still serves after `SIGTERM`, 0 to 60000; longer than [the balancer](../how-to/upgrades.md) takes to notice',
  }),
  httpMaxUnfinishedBytes: setting('HTTP_MAX_UNFINISHED_BYTES', whole(1_048_576, 17_179_869_184), '67108864', {
    meaning:
      'that one process holds of unfinished bodies, of requests that wait behind others on a connection, and of unread answers: of each. From 1 MiB on',
  }),
  trustProxy: setting('TRUST_PROXY', trustProxy, '', {
    meaning: 'the proxy in front: hops, addresses. `true` trusts every client, and warns at the start',
  }),
  logLevel: setting('LOG_LEVEL', logLevel, 'info', {
    meaning: '`fatal` `error` `warn` `info` `debug` `trace` `silent`',
  }),
};

/** Settings that a host application passes as options, with the same values as in the service's processes. */
export const SHARED_SETTINGS = {
  databaseUrl: setting('DATABASE_URL', databaseAddress, '', {
    meaning: '`postgresql://…` of one host or [several](../how-to/standby.md); optional beside `npm start`',
  }),
  redisUrl: setting('REDIS_URL', text, '', {
    meaning:
      'one server, [Sentinels or a Cluster](../explanation/redis.md#redis-on-several-machines); optional beside `npm start`',
  }),
  appUrl: setting('APP_URL', httpAddress, 'http://localhost:3000', {
    meaning: 'the dashboard, for links in the documentation, in invitations and in mails',
  }),
  smtpUrl: optional('SMTP_URL', mailServer, {
    meaning:
      '`smtp://` or `smtps://`, with user and password: the mail server for [logins](../how-to/operating.md#logins), in dashboards and the CLI, and in workers for [answers to visitors](../how-to/widget.md#answers-by-mail), [notices to agents](../how-to/dashboard.md) and [alerts](../how-to/alerts.md). Mails need STARTTLS or TLS, unless the server is this machine or the URL ends with `?requireTLS=false`',
  }),
  mailFrom: optional('MAIL_FROM', mailSender, {
    meaning: 'the sender of mails, such as `Acme <login@example.com>`; set with `SMTP_URL`',
  }),
  vapidPublicKey: optional('VAPID_PUBLIC_KEY', vapidPublicKey, {
    meaning:
      "the public key for [notices in agents' browsers](../how-to/dashboard.md#notices-in-a-closed-browser); set with the next two. Without it none are offered",
  }),
  vapidPrivateKey: optional('VAPID_PRIVATE_KEY', vapidPrivateKey, {
    meaning: 'its private key',
  }),
  vapidContact: optional('VAPID_CONTACT', vapidContact, {
    meaning: 'whom a push service reaches about them: `mailto:ops@example.com`, or an https address',
  }),
  publicUrl: setting('PUBLIC_URL', httpAddress, 'http://localhost:3000', {
    meaning: 'where clients and providers reach the API',
  }),
  metaGraphVersion: setting('META_GRAPH_VERSION', graphVersion, 'v25.0', {
    meaning: 'the version in every call to Meta',
  }),
  secretsKeys: setting('SECRETS_KEYS', text, '', {
    meaning: '`id:base64,…`, 32 bytes each; required in production',
  }),
  webhookAllowedNetworks: setting('WEBHOOK_ALLOWED_NETWORKS', networks, '', {
    meaning: 'networks (CIDR, by comma) of receivers not public',
  }),
  webhookDeniedNetworks: setting('WEBHOOK_DENIED_NETWORKS', networks, '', {
    meaning: 'networks (CIDR, by comma) that no webhook reaches, public or allowed ones too',
  }),
  webhookExtraCaFile: optional('WEBHOOK_EXTRA_CA_FILE', text, {
    meaning: 'PEM file: more authorities trusted for webhooks',
  }),
  webhookDnsServers: setting('WEBHOOK_DNS_SERVERS', nameServers, '', {
    meaning: "name servers for receivers; else the system's",
  }),
  databasePoolSize: setting('DATABASE_POOL_SIZE', whole(2, 500), '20', {
    meaning: 'PostgreSQL connections of each process, 2 to 500',
  }),
  databasePrepared: setting('DATABASE_PREPARED', flag('on', 'off'), 'on', {
    meaning:
      '`off`: statements have no names, for a [pooler](../explanation/database.md#behind-a-pooler) that does not know them',
  }),
  instagramFiles: setting('INSTAGRAM_FILES', oneOf(['link', 'copy']), 'link', {
    meaning:
      '`copy`: files of customers on Instagram are stored, for which Meta demands [its permission](../how-to/files.md#instagram)',
  }),
  fileStoreDirectory: optional('FILE_STORE_DIRECTORY', text, {
    meaning:
      'the folder of [files in messages](../how-to/files.md), one for all processes; `files` in `DATA_DIR` if unset',
  }),
  fileStoreBucket: optional('FILE_STORE_BUCKET', text, {
    meaning:
      'a bucket of S3, or of a server with its protocol, instead of a folder. The credentials are those of the AWS SDK, such as `AWS_ACCESS_KEY_ID`',
  }),
  fileStorePrefix: setting('FILE_STORE_PREFIX', text, '', {
    meaning: 'the beginning of the names of all objects in the bucket',
  }),
  fileStoreRegion: setting('FILE_STORE_REGION', text, 'us-east-1', { meaning: "the bucket's region" }),
  fileStoreEndpoint: optional('FILE_STORE_ENDPOINT', httpAddress, {
    meaning: "the address of a server that is not Amazon's",
  }),
  fileStorePathStyle: setting('FILE_STORE_PATH_STYLE', flag('true', 'false'), 'false', {
    meaning: '`true`: the bucket is a part of the path, and not of the host',
  }),
  fileStoreEncryption: optional('FILE_STORE_ENCRYPTION', oneOf(['AES256', 'aws:kms']), {
    meaning: "`AES256` or `aws:kms`: encryption at rest by the bucket's server; its own choice if unset",
  }),
  workspaceFileMebibytes: setting('WORKSPACE_FILE_MEBIBYTES', whole(0, 1_000_000_000), '20480', {
    meaning: 'what the files of a workspace may take; 0 for no limit',
  }),
  apiKeyMaxLifeDays: optional('API_KEY_MAX_LIFE_DAYS', whole(1, 3650), {
    meaning: 'the longest life of a new API key, 1 to 3650; no limit if unset',
  }),
};

/** Settings that only the service's own processes have. */
export const PROCESS_SETTINGS = {
  role: setting('ROLE', oneOf(['api', 'worker', 'all']), 'all', {
    meaning: '`api`, `worker` or `all`',
  }),
  metricsPort: optional('METRICS_PORT', whole(0, 65_535), {
    meaning: 'where `/metrics` is served; nowhere if unset',
  }),
  databaseOwnerUrl: optional('DATABASE_OWNER_URL', databaseAddress, {
    meaning:
      'the same database for the [owner of its tables](../how-to/database-roles.md), in workers and for `migrate`; `DATABASE_URL` if unset',
  }),
  databaseDirectUrl: optional('DATABASE_DIRECT_URL', databaseAddress, {
    meaning:
      'the same database for the owner of its tables, past a [pooler](../explanation/database.md#behind-a-pooler), for `migrate`; `DATABASE_OWNER_URL` if unset',
  }),
  requestConcurrency: setting('REQUEST_CONCURRENCY', concurrency, partOf('databasePoolSize', 1), {
    meaning:
      '[requests with an API key](../how-to/operating.md#budgets) in flight in a process; as many as connections by default',
  }),
  searchConcurrency: setting('SEARCH_CONCURRENCY', concurrency, partOf('databasePoolSize', 4), {
    meaning: 'contact searches in flight in a process; a quarter of the connections by default',
  }),
  hookConcurrency: setting('HOOK_CONCURRENCY', concurrency, partOf('databasePoolSize', 2), {
    meaning: "providers' requests in flight in a process; half of the connections by default",
  }),
  widgetConcurrency: setting('WIDGET_CONCURRENCY', concurrency, partOf('databasePoolSize', 2), {
    meaning: "visitors' requests in flight in a process; half of the connections by default",
  }),
  widgetStreams: setting('WIDGET_STREAMS', whole(1, 100_000), '5000', {
    meaning: "visitors' open streams in a process",
  }),
  answerMailSeconds: setting('ANSWER_MAIL_SECONDS', whole(1, 86_400), '300', {
    meaning:
      'age of an answer that a visitor has not read, at which it is [mailed](../how-to/widget.md#answers-by-mail), 1 to 86400',
  }),
  widgetNewVisitors: setting('WIDGET_NEW_VISITORS', whole(1, 1_000_000), '3000', {
    meaning: 'anonymous visitors a minute who begin at one widget',
  }),
  widgetMessages: setting('WIDGET_MESSAGES', whole(1, 1_000_000), '1200', {
    meaning: 'messages a minute to one widget',
  }),
  webhookConcurrency: setting('WEBHOOK_CONCURRENCY', concurrency, '1000', {
    meaning: 'deliveries in flight in a worker, 1 to 10000; fewer if `ulimit -n` does not allow them',
  }),
  webhookEndpointConcurrency: setting('WEBHOOK_ENDPOINT_CONCURRENCY', whole(1, 1000), '100', {
    meaning:
      'of them to one endpoint that answers with a 2xx, 1 to 1000; at first 10, and one more with each 2xx',
  }),
  webhookSlowConcurrency: setting('WEBHOOK_SLOW_CONCURRENCY', concurrency, partOf('webhookConcurrency', 5), {
    meaning:
      'attempts to endpoints that time out or have not answered yet, one at a time each; a fifth of `WEBHOOK_CONCURRENCY` by default',
  }),
  crossWorkspaceBatches: setting('CROSS_WORKSPACE_BATCHES', flag('true', 'false'), 'true', {
    meaning: '`false`: no statement serves several workspaces, as on [Citus](../how-to/citus.md)',
  }),
  retentionDays: setting('RETENTION_DAYS', whole(1, 3650), '30', {
    meaning: 'how long events and deliveries are kept, 1 to 3650',
  }),
  workspaceQuotaContacts: setting('WORKSPACE_QUOTA_CONTACTS', whole(1, 1_000_000_000), '1000000', {
    meaning:
      'contacts above which a workspace is [shown to the operator](../how-to/operating.md#workspaces-that-grow)',
  }),
  workspaceQuotaMessages: setting('WORKSPACE_QUOTA_MESSAGES', whole(1, 1_000_000_000), '10000000', {
    meaning: 'the same for its messages',
  }),
  workspaceQuotaMebibytes: setting('WORKSPACE_QUOTA_MEBIBYTES', whole(1, 1_000_000), '20480', {
    meaning: 'the same for what it stores, 1 to 1000000',
  }),
  nodeEnv: setting('NODE_ENV', text, 'development', {
    meaning: '`production` requires `SECRETS_KEYS`',
  }),
  dataDir: setting('DATA_DIR', text, DEFAULT_DATA_DIR, {
    meaning: 'data of `npm start`; generated keys outside production',
  }),
};

export const PROVIDER_SETTINGS = Object.fromEntries(
  Object.entries(PROVIDER_URLS).map(([variable, url]) => {
    const channels = CHANNELS.map(describeChannel).filter(({ api }) => api?.variable === variable);
    const labels = channels.map(({ label }) => label);
    const meaning = labels.length > 1 ? `the API of ${labels.join(' and ')}` : `${labels[0]}'s API`;
    return [variable, setting(variable, httpAddress, url, { meaning })];
  }),
) as Record<ProviderVariable, Setting<string>>;

export type ValuesOf<Table> = {
  [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

export type Role = ValuesOf<typeof PROCESS_SETTINGS>['role'];
