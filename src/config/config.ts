import { createECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ProviderVariable } from '../common/channel-descriptors';
import { HttpSettings, readHttpSettings } from './http-settings';
import { keptSecretsKeys, withRunningServers } from './local-data';
import { check, readSettings } from './read-settings';
import { parseRedisAddress, RedisAddress } from './redis-address';
import { InvalidText } from './setting-readers';
import { parseSecretsKeys, SecretsKey } from './secrets-keys';
import { PROCESS_SETTINGS, PROVIDER_SETTINGS, SHARED_SETTINGS, ValuesOf } from './settings';

const SERVICE_SETTINGS = { ...SHARED_SETTINGS, ...PROCESS_SETTINGS };
const MEBIBYTE = 1024 * 1024;

type Values = ValuesOf<typeof SERVICE_SETTINGS>;

/** Base class with a field for each setting. */
const Settings = class {} as new () => Readonly<Omit<Values, 'secretsKeys'>>;

/**
 * Reads and checks the configuration of the service: the values of `settings.ts`, and values that are made
 * from several of them. Only this folder reads the environment.
 */
export class Config extends Settings {
  readonly http: HttpSettings;
  readonly redis: RedisAddress;
  /** Mail server, and sender's address of mails to people who log in; null if the service sends no mails. */
  readonly mail: { smtpUrl: string; from: string } | null;
  /** Keys with which notices are pushed to agents' browsers, and a contact; null if none are pushed. */
  readonly vapid: VapidDetails | null;
  /** Addresses of the channel providers' APIs, by environment variable, without a slash at the end. */
  readonly providerUrls: Record<ProviderVariable, string>;
  readonly secretsKeys: SecretsKey[];
  /** PEM certificates of authorities that are trusted for webhook receivers in addition to the system's. */
  readonly webhookExtraCa: string | undefined;
  /** Store of files in messages: a folder, or a bucket of S3. */
  readonly fileStore: { directory: string } | S3Settings;
  /** Number of bytes that the files of a workspace may have in all; null for no limit. */
  readonly workspaceFileBytes: number | null;
  /** Estimated sizes above which a workspace is listed for the operator. Nothing is refused above them. */
  readonly workspaceQuotas: { contacts: number; messages: number; bytes: number };

  private constructor(values: Omit<Config, never>) {
    super();
    Object.assign(this, values);
  }

  /**
   * Reads and checks an environment.
   * @throws ConfigError naming every fault
   */
  static from(environment: NodeJS.ProcessEnv = process.env): Config {
    const variables = withRunningServers(environment);
    const { values, faults } = readSettings(SERVICE_SETTINGS, variables);
    const providers = readSettings(PROVIDER_SETTINGS, variables);
    const http = readHttpSettings(variables);
    faults.push(...providers.faults, ...http.faults, ...faultsBetween(values));
    const { redisUrl, secretsKeys, smtpUrl, mailFrom, webhookExtraCaFile } = values;
    const redis = check(faults, 'REDIS_URL', () => (redisUrl ? parseRedisAddress(redisUrl) : undefined));
    const keys = check(faults, 'SECRETS_KEYS', () =>
      parseSecretsKeys(secretsKeys || defaultSecretsKeys(values)),
    );
    const webhookExtraCa = check(faults, 'WEBHOOK_EXTRA_CA_FILE', () =>
      webhookExtraCaFile ? readFileSync(webhookExtraCaFile, 'utf8') : undefined,
    );
    const vapid = check(faults, 'VAPID_PRIVATE_KEY', () => vapidOf(values));
    if (faults.length > 0) throw new ConfigError(faults);
    return new Config({
      ...values,
      http: { ...http.settings, limits: { ...http.settings.limits, maxStreams: values.widgetStreams } },
      redis: redis!,
      mail: smtpUrl && mailFrom ? { smtpUrl, from: mailFrom } : null,
      vapid: vapid!,
      providerUrls: providers.values,
      secretsKeys: keys!,
      webhookExtraCa,
      fileStore: fileStoreOf(values),
      workspaceFileBytes: values.workspaceFileMebibytes ? values.workspaceFileMebibytes * MEBIBYTE : null,
      workspaceQuotas: {
        contacts: values.workspaceQuotaContacts,
        messages: values.workspaceQuotaMessages,
        bytes: values.workspaceQuotaMebibytes * MEBIBYTE,
      },
    });
  }
}

/** Returns the faults of variables that do not fit each other, and of missing addresses of servers. */
function faultsBetween(values: Values): string[] {
  const { role, databaseUrl, databaseOwnerUrl, databaseDirectUrl, redisUrl, smtpUrl, mailFrom } = values;
  const faults = [];
  if (values.fileStoreBucket !== null && values.fileStoreDirectory !== null)
    faults.push('FILE_STORE_BUCKET and FILE_STORE_DIRECTORY must not both be set');
  if (databaseUrl === '') faults.push('DATABASE_URL is not set');
  if (redisUrl === '') faults.push('REDIS_URL is not set');
  if ((smtpUrl === null) !== (mailFrom === null)) faults.push('SMTP_URL and MAIL_FROM must be set together');
  const vapid = [values.vapidPublicKey, values.vapidPrivateKey, values.vapidContact];
  if (vapid.includes(null) && vapid.some((one) => one !== null))
    faults.push('VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY and VAPID_CONTACT must be set together');
  // Refused, because an API process that does not know the owner's password can't leak it.
  const ownersOnly = 'must not be set with ROLE=api: only workers and "migrate" act as the owner';
  if (role === 'api' && databaseOwnerUrl !== null) faults.push(`DATABASE_OWNER_URL: ${ownersOnly}`);
  if (role === 'api' && databaseDirectUrl !== null) faults.push(`DATABASE_DIRECT_URL: ${ownersOnly}`);
  return faults;
}

/** Returns the keys of Web Push; throws if they are no pair. */
function vapidOf({ vapidPublicKey, vapidPrivateKey, vapidContact }: Values): VapidDetails | null {
  if (!vapidPublicKey || !vapidPrivateKey || !vapidContact) return null;
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(vapidPrivateKey, 'base64url');
  if (!pair.getPublicKey().equals(Buffer.from(vapidPublicKey, 'base64url')))
    throw new InvalidText(['is not the private key of VAPID_PUBLIC_KEY']);
  return { publicKey: vapidPublicKey, privateKey: vapidPrivateKey, subject: vapidContact };
}

function fileStoreOf(values: Values): Config['fileStore'] {
  const { fileStoreBucket: bucket, fileStoreDirectory: directory, fileStorePrefix } = values;
  if (bucket === null) return { directory: resolve(directory ?? join(values.dataDir, 'files')) };
  return {
    bucket,
    prefix: fileStorePrefix === '' ? '' : `${fileStorePrefix.replace(/\/+$/, '')}/`,
    region: values.fileStoreRegion,
    endpoint: values.fileStoreEndpoint,
    pathStyle: values.fileStorePathStyle,
    encryption: values.fileStoreEncryption,
  };
}

/** Returns the keys that are generated for this checkout; throws in production, where keys must be set. */
function defaultSecretsKeys({ nodeEnv, dataDir }: Values): string {
  if (nodeEnv === 'production') throw new Error('must be set in production: id:base64 pairs, 32 bytes each');
  return keptSecretsKeys(dataDir);
}

/** Keys of Web Push (VAPID, RFC 8292) in base64url, and the contact that every request names. */
export interface VapidDetails {
  publicKey: string;
  privateKey: string;
  subject: string;
}

/** Bucket of S3, or of a server with its protocol. */
export interface S3Settings {
  bucket: string;
  /** Beginning of all names of objects, empty or with a slash at its end. */
  prefix: string;
  region: string;
  /** Address of a server that is not Amazon's; null for Amazon's. */
  endpoint: string | null;
  /** Whether the bucket is a part of the path, and not of the host. */
  pathStyle: boolean;
  /** Encryption at rest by the server; null for the bucket's own choice. */
  encryption: 'AES256' | 'aws:kms' | null;
}

export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}
