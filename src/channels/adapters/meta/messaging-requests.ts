import { ProviderObject, textOf } from '../support/provider-values';
import { GraphRequest } from './graph-api';
import { MetaRequests } from './meta-adapter';

/** Facebook page or professional Instagram account, as the Graph API addresses it. */
export interface MessagingAccount extends Pick<GraphRequest, 'api' | 'accessToken' | 'params'> {
  id: string;
  /** Kinds of events that the app subscribes to, separated by commas. */
  fields: string;
}

/**
 * Makes the requests of a Messenger or Instagram account. `register` subscribes the app to the account's
 * events. The app's owner enters the hook's address at Meta, once for the app.
 */
export function messagingRequests(account: MessagingAccount): MetaRequests {
  const { api, id, accessToken, params, fields } = account;
  const toRequest = (method: GraphRequest['method'], path: string, more: object = {}): GraphRequest => ({
    method,
    api,
    path: `${id}/${path}`,
    accessToken,
    tokenIn: 'query',
    params: { ...params, ...more },
  });
  return {
    register: toRequest('POST', 'subscribed_apps', { subscribed_fields: fields }),
    unregister: toRequest('DELETE', 'subscribed_apps'),
    send: toRequest('POST', 'messages'),
  };
}

/** Returns the id of a sent message, or null if the answer to its request has none. */
export function readMessageId({ message_id }: ProviderObject): string | null {
  return textOf(message_id);
}
