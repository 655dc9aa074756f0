import { ProviderObject, textOf } from '../support/provider-values';
import { GraphRequest } from './graph-api';
import { MetaRegistration } from './meta-adapter';

/** Facebook page or professional Instagram account, as the Graph API addresses it. */
export interface MessagingAccount extends Pick<GraphRequest, 'api' | 'accessToken' | 'params'> {
  id: string;
}

/**
 * Makes the requests that read an account, subscribe the app to its events, and end that. The app's owner
 * enters the hook's address at Meta, once for the app.
 * @param fields kinds of the events, separated by commas
 */
export function messagingRegistration(account: MessagingAccount, fields: string): MetaRegistration {
  return {
    prove: toRequest(account, { method: 'GET', path: '', params: { fields: 'id' } }),
    register: toRequest(account, {
      method: 'POST',
      path: '/subscribed_apps',
      params: { subscribed_fields: fields },
    }),
    unregister: toRequest(account, { method: 'DELETE', path: '/subscribed_apps' }),
  };
}

/** Makes the request that sends a message of an account. */
export function messagingSendRequest(account: MessagingAccount, data: object): GraphRequest {
  return toRequest(account, { method: 'POST', path: '/messages', data });
}

/** Returns the id of a sent message, or null if the answer to its request has none. */
export function readMessageId({ message_id }: ProviderObject): string | null {
  return textOf(message_id);
}

function toRequest(
  { api, id, accessToken, params }: MessagingAccount,
  request: Pick<GraphRequest, 'method' | 'path' | 'params' | 'data'>,
): GraphRequest {
  return {
    ...request,
    api,
    path: id + request.path,
    accessToken,
    tokenIn: 'query',
    params: { ...params, ...request.params },
  };
}
