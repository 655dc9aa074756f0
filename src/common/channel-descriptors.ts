/** Description of the requests that a provider sends to our hook. */
export interface HookDescriptor {
  /** Header with the signature of a request. */
  signature: { name: string; description: string };
  /** True if the provider calls the address once to verify it. */
  hasHandshake?: boolean;
  /**
   * Size of the largest request, and the most events in it: each message, receipt or other report is one
   * event.
   */
  batch: { maxMebibytes: number; maxEvents: number };
}

/** Facts about a channel that the service knows outside the channel's adapter. */
interface ChannelDescriptor {
  /** Name of the channel for people. */
  label: string;
  /** Longest text of a message, if the provider allows less than the API's 4096 characters. */
  bodyLimit?: { max: number; unit: 'characters' | 'UTF-8 bytes' };
  /**
   * Hours after a customer's message in which the provider takes answers; no limit by default. Before the
   * first one it takes none.
   */
  windowHours?: number;
  /** Names of the credentials with which an operator connects an account; optional ones in brackets. */
  credentials: string;
  /** Address of the provider's API, and the environment variable that replaces it. */
  api?: { variable: string; url: string };
  /** The provider's requests to us. */
  hook?: HookDescriptor;
}

const META_WINDOW_HOURS = 24;

const META_HOOK = {
  signature: {
    name: 'X-Hub-Signature-256',
    description: "`sha256=`, and the HMAC-SHA256 of the raw body, keyed with the app's secret, in hex.",
  },
  hasHandshake: true,
  // Meta documents payloads of up to 3 MB and up to 1000 updates in one; an update can hold several receipts.
  batch: { maxMebibytes: 3, maxEvents: 10_000 },
};

/** Descriptors of all channels. A new channel is an entry here and an adapter in `src/channels/adapters/`. */
const CHANNEL_DESCRIPTORS = {
  WIDGET: {
    label: 'Widget',
    credentials: 'allowedOrigins, a list; when rotated also [keepIdentitySecret], true or false',
  },
  WHATSAPP: {
    label: 'WhatsApp',
    windowHours: META_WINDOW_HOURS,
    credentials: 'phoneNumberId, accessToken, appSecret, [verifyToken]',
    api: { variable: 'META_GRAPH_URL', url: 'https://graph.facebook.com' },
    hook: META_HOOK,
  },
  TELEGRAM: {
    label: 'Telegram',
    credentials: 'botToken',
    api: { variable: 'TELEGRAM_API_URL', url: 'https://api.telegram.org' },
    hook: {
      signature: {
        name: 'X-Telegram-Bot-Api-Secret-Token',
        description: 'The secret token that was registered with the address.',
      },
      // One update, whose longest text has 4096 characters; a message can repeat the one that it answers.
      batch: { maxMebibytes: 1, maxEvents: 1 },
    },
  },
  MESSENGER: {
    label: 'Messenger',
    bodyLimit: { max: 2000, unit: 'characters' },
    windowHours: META_WINDOW_HOURS,
    credentials: 'pageId, accessToken, appSecret, [verifyToken]',
    api: { variable: 'META_GRAPH_URL', url: 'https://graph.facebook.com' },
    hook: META_HOOK,
  },
  INSTAGRAM: {
    label: 'Instagram',
    bodyLimit: { max: 1000, unit: 'UTF-8 bytes' },
    windowHours: META_WINDOW_HOURS,
    credentials: 'accountId, accessToken, appSecret, [facebookAppSecret], [verifyToken]',
    api: { variable: 'INSTAGRAM_GRAPH_URL', url: 'https://graph.instagram.com' },
    hook: META_HOOK,
  },
} as const satisfies Record<string, ChannelDescriptor>;

export type Channel = keyof typeof CHANNEL_DESCRIPTORS;
/** Longest texts that the channels take; null where they take the API's 4096 characters. */
export type BodyLimits = {
  [Name in Channel]: (typeof CHANNEL_DESCRIPTORS)[Name] extends { bodyLimit: infer Limit } ? Limit : null;
};
export const CHANNELS = Object.keys(CHANNEL_DESCRIPTORS) as unknown as readonly [Channel, ...Channel[]];

/** Returns the channel's part of a path: `/channels/{slug}/{hookKey}`. */
export function slugOf(channel: Channel): string {
  return channel.toLowerCase();
}

/**
 * Returns the address that the provider calls for a connection. The widget's script calls routes below it.
 */
export function hookUrlOf(
  publicUrl: string,
  { channel, hookKey }: { channel: Channel; hookKey: string },
): string {
  return `${publicUrl}/channels/${slugOf(channel)}/${hookKey}`;
}

/** Returns the HTML that shows the widget in a workspace's pages; null for the other channels. */
export function snippetOf(
  publicUrl: string,
  { channel, hookKey }: { channel: Channel; hookKey: string },
): string | null {
  if (channel !== 'WIDGET') return null;
  return `<script async src="${publicUrl}/widget/v1.js" data-site-key="${hookKey}"></script>`;
}

export function describeChannel(channel: Channel): ChannelDescriptor {
  return CHANNEL_DESCRIPTORS[channel];
}

/** Names of the environment variables that hold providers' addresses. */
export type ProviderVariable = Extract<
  (typeof CHANNEL_DESCRIPTORS)[Channel],
  { api: unknown }
>['api']['variable'];

/** Addresses of the providers' own APIs, by environment variable. */
export const PROVIDER_URLS = Object.fromEntries(
  CHANNELS.map((channel) => describeChannel(channel).api)
    .filter((api) => api !== undefined)
    .map(({ variable, url }) => [variable, url]),
) as Record<ProviderVariable, string>;

/** Returns the providers' addresses among other values, without those that are not set. */
export function pickProviderUrls(values: object): Partial<Record<ProviderVariable, string>> {
  const isProviderUrl = ([name, url]: [string, unknown]) =>
    Object.hasOwn(PROVIDER_URLS, name) && url !== undefined;
  return Object.fromEntries(Object.entries(values).filter(isProviderUrl));
}
