import type { ChatWidgetApi, Command, WidgetSettings } from '../page-api';
import type { AppLoader } from './app-loader';

const CHOICES: Partial<Record<keyof WidgetSettings, string[]>> = {
  theme: ['auto', 'light', 'dark'],
  position: ['right', 'left'],
};

/**
 * Makes `window.chatWidget`. A call with wrong arguments throws; in the queue its error is logged, and the
 * next call runs.
 */
export function createApi(loader: AppLoader): ChatWidgetApi {
  const api: ChatWidgetApi = {
    open: () => loader.open(),
    close: () => loader.close(),
    identify: (identity) => {
      const { jwt, id, signature } = { ...identity } as Record<string, unknown>;
      check(isText(jwt) || (isText(id) && isText(signature)), 'identify takes {jwt}, or {id, signature}');
      loader.identify({ ...identity });
    },
    logout: () => loader.logout(),
    on: (name, listener) => {
      check(typeof listener === 'function', 'on takes a name and a function');
      return loader.on(name, listener as (detail: unknown) => void);
    },
    set: (settings) => {
      check(Object(settings) === settings, 'set takes an object');
      for (const [name, choices] of Object.entries(CHOICES)) {
        const value = settings[name as keyof WidgetSettings] as string | undefined;
        check(value === undefined || choices.includes(value), `${name} is one of ${choices.join(', ')}`);
      }
      loader.set(settings);
    },
    push: (...commands) => {
      for (const [name, ...parameters] of commands)
        try {
          check(Object.hasOwn(api, name), `there is no command ${name}`);
          (api[name] as (...parameters: Command[number][]) => unknown)(...parameters);
        } catch (error) {
          console.error(error);
        }
    },
  };
  return api;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new TypeError(`chatWidget: ${message}.`);
}
