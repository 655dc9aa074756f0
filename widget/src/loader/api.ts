import type { ChatWidgetApi, Command, WidgetSettings } from '../page-api';
import type { AppLoader } from './app-loader';

const CHOICES: Partial<Record<keyof WidgetSettings, string[]>> = {
  theme: ['auto', 'light', 'dark'],
  position: ['right', 'left'],
};

/** `window.chatWidget`. A call that makes no sense throws; in the queue it is logged, and the next one runs. */
export function createApi(loader: AppLoader): ChatWidgetApi {
  const api: ChatWidgetApi = {
    open: () => loader.open(),
    close: () => loader.close(),
    identify: (identity) => {
      checkIdentity(identity);
      loader.identify({ ...identity });
    },
    logout: () => loader.logout(),
    on: (name, listener) => {
      if (typeof listener !== 'function') throw new TypeError('chatWidget.on: the listener is no function.');
      return loader.on(name, listener);
    },
    set: (settings) => {
      checkSettings(settings);
      loader.set(settings);
    },
    push: (...commands) => {
      for (const command of commands)
        try {
          run(api, command);
        } catch (error) {
          console.error(error);
        }
    },
  };
  return api;
}

function run(api: ChatWidgetApi, [name, ...parameters]: Command): void {
  if (!Object.hasOwn(api, name)) throw new TypeError(`chatWidget: there is no command "${name}".`);
  (api[name] as (...parameters: unknown[]) => unknown)(...parameters);
}

function checkIdentity(identity: Partial<Record<'jwt' | 'id' | 'signature', unknown>> | undefined): void {
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  if (!isText(identity?.jwt) && !(isText(identity?.id) && isText(identity?.signature)))
    throw new TypeError('chatWidget.identify: give {jwt}, or {id, signature}.');
}

function checkSettings(settings: WidgetSettings | undefined): void {
  if (typeof settings !== 'object' || !settings) throw new TypeError('chatWidget.set: give an object.');
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = settings[name as keyof WidgetSettings] as string | undefined;
    if (value !== undefined && !choices.includes(value))
      throw new TypeError(`chatWidget.set: ${name} is one of ${choices.join(', ')}.`);
  }
}
