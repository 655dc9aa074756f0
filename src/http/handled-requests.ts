import type { Response } from 'express';

const callbacks = new WeakMap<Response, () => void>();

/**
 * Calls back once the handler of a request has ended, with an answer or an error, even if its client has hung
 * up. Only for routes whose answer Nest sends: not for those that inject `@Res()` without `passthrough`.
 */
export function onAnswer(response: Response, callback: () => void): void {
  callbacks.set(response, callback);
}

/** Must be called when Nest sends the answer of a handler, or an error. */
export function noteAnswer(response: Response): void {
  callbacks.get(response)?.();
  callbacks.delete(response);
}
