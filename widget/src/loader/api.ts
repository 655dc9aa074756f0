import type { ChatWidgetApi, Command } from '../page-api';
import type { AppLoader } from './app-loader';
import { check, copySettings } from './arguments';

/**
 * Creates `window.chatWidget`. Its methods throw a TypeError on wrong arguments. `push` logs the error of a
 * command instead, and executes the next one.
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
    set: (settings) => loader.set(copySettings(settings)),
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
