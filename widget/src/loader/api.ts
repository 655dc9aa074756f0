import type { ChatWidgetApi, Command } from '../page-api';
import type { AppLoader } from './app-loader';

/**
 * Matches the settings that there are, and what is undefined: name, type, and value or parts, joined by
 * commas.
 */
const SETTING =
  /^(\w+,u|(locale|title|welcome),s|(theme,string,(auto|light|dark)|position,string,(right|left)|form,object(,(name|email),(optional|required))*,?)$|texts,o)/;

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
      check(typeof settings === 'object', 'set takes an object');
      for (const [name, value] of Object.entries(settings) as [string, unknown][]) {
        const parts = (typeof value === 'object' ? Object.entries(value ?? 0) : value) as string;
        check(SETTING.test([name, typeof value, parts].join()), `there is no setting ${name} ${parts}`);
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
