/** Facts about the requests that a provider sends to the service. */
export interface HookDescriptor {
  signature: { name: string; description: string };
  /** Whether the provider calls the service once to verify the address that it sends requests to. */
  hasHandshake?: boolean;
  /** Limits of one request from the provider. Each message, receipt or other report in it is an event. */
  batch: { maxMebibytes: number; maxEvents: number };
}

/** Facts about a channel that code outside the channel's adapter needs. */
interface ChannelDescriptor {
  label: string;
  /** Longest text of a message, if the provider allows less than the API's 4096 characters. */
  bodyLimit?: { max: number; unit: 'characters' | 'UTF-8 bytes' };
  /**
   * Hours after a customer's message during which the provider accepts answers; no limit by default. Before
   * the customer's first message it accepts none.
   */
  windowHours?: number;
  /** Names of the credentials with which an operator connects an account; optional names are in brackets. */
  credentials: string;
  /** Address of the provider's API, and the environment variable that overrides it. */
  api?: { variable: string; url: string };
  hook?: HookDescriptor;
}

const META_WINDOW_HOURS = 24;

const META_HOOK = {
  signature: {
    name: 'X-Hub-Signature-256',
    description: "`sha256=`, and the HMAC-SHA256 of the raw body, keyed with the app's secret, in hex.",
  },
  hasHandshake: true,
  // Meta documents payloads of up to 3 MB and of up to 1000 updates; an update can contain several receipts.
  batch: { maxMebibytes: 3, maxEvents: 10_000 },
};

/** Descriptors of all channels. A new channel needs an entry here and an adapter in `channels/adapters`. */
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
      // Telegram sends one update: a message of up to 4096 characters, which may quote another message.
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
export type BodyLimits = {
  [Name in Channel]: (typeof CHANNEL_DESCRIPTORS)[Name] extends { bodyLimit: infer Limit } ? Limit : null;
};
export const CHANNELS = Object.keys(CHANNEL_DESCRIPTORS) as unknown as readonly [Channel, ...Channel[]];

/** Returns the channel's part of the path `/channels/{slug}/{hookKey}`. */
export function slugOf(channel: Channel): string {
  return channel.toLowerCase();
}

/** Returns the address that the provider calls for a connection. The widget calls routes below it. */
export function hookUrlOf(
  publicUrl: string,
  { channel, hookKey }: { channel: Channel; hookKey: string },
): string {
  return `${publicUrl}/channels/${slugOf(channel)}/${hookKey}`;
}

/** Returns the HTML that shows the widget in a workspace's pages; null for channels other than WIDGET. */
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

export type ProviderVariable = Extract<
  (typeof CHANNEL_DESCRIPTORS)[Channel],
  { api: unknown }
>['api']['variable'];

export const PROVIDER_URLS = Object.fromEntries(
  CHANNELS.map((channel) => describeChannel(channel).api)
    .filter((api) => api !== undefined)
    .map(({ variable, url }) => [variable, url]),
) as Record<ProviderVariable, string>;

/** Returns the set entries of an object whose names are environment variables of providers' addresses. */
export function pickProviderUrls(values: object): Partial<Record<ProviderVariable, string>> {
  const isProviderUrl = ([name, url]: [string, unknown]) =>
    Object.hasOwn(PROVIDER_URLS, name) && url !== undefined;
  return Object.fromEntries(Object.entries(values).filter(isProviderUrl));
}
