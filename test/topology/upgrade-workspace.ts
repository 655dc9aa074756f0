import { TelegramSimulator } from '../support/simulators/telegram';
import { ORIGIN } from '../support/widget';

type Cli = (...args: string[]) => Promise<any>;

const SLUG = 'upgrade';
const NO_RATE_LIMIT = '1000000';

/** A workspace with an agent and a key, Telegram, a widget, and endpoints for messages. */
export interface UpgradeWorkspace {
  id: string;
  apiKey: string;
  botToken: string;
  /** The path of the widget's routes. */
  widgetPath: string;
}

/** Makes the workspace with the CLI, whose commands are the same in both versions. */
export async function makeWorkspace(cli: Cli, endpoints: readonly string[]): Promise<UpgradeWorkspace> {
  const known = ['--workspace', SLUG];
  const limit = ['--rate-limit', NO_RATE_LIMIT];
  const { id } = await cli(
    'workspace',
    'create',
    '--name',
    'Upgrade',
    '--slug',
    SLUG,
    '--plan',
    'PRO',
    ...limit,
  );
  await cli('agent', 'create', ...known, '--name', 'Ada', '--email', 'ada@example.com', '--role', 'OWNER');
  const scopes = 'conversations:read,conversations:write,messages:write,contacts:read';
  const { key } = await cli('api-key', 'create', ...known, '--name', 'upgrade', '--scopes', scopes);
  for (const url of endpoints)
    await cli('webhook', 'create', ...known, '--url', url, '--events', 'message.created');
  const connect = (channel: string, credentials: object) =>
    cli('channel', 'connect', ...known, '--channel', channel, '--credentials', JSON.stringify(credentials));
  const botToken = TelegramSimulator.token();
  await connect('TELEGRAM', { botToken });
  const { hookUrl } = await connect('WIDGET', { allowedOrigins: [ORIGIN] });
  return { id, apiKey: key, botToken, widgetPath: new URL(hookUrl as string).pathname };
}
