import { ProviderObject, textOf } from '../support/provider-values';
import { GraphRequest } from './graph-api';

/** A Facebook page or a professional Instagram account, as the Graph API addresses it. */
export interface MessagingAccount extends Pick<GraphRequest, 'api' | 'accessToken' | 'params'> {
  id: string;
}

/**
 * Returns the request that subscribes an app to an account's events. The app's owner enters at Meta where
 * they are sent, once for the app.
 * @param fields kinds of events, separated by commas
 */
export function subscribeRequest(account: MessagingAccount, fields: string): GraphRequest {
  const request = accountRequest('POST', account, 'subscribed_apps');
  return { ...request, params: { ...request.params, subscribed_fields: fields } };
}

/** Returns the request that ends an app's subscription to an account's events. */
export function unsubscribeRequest(account: MessagingAccount): GraphRequest {
  return accountRequest('DELETE', account, 'subscribed_apps');
}

/** Returns the request that sends a message from an account. Its answer holds the message's id. */
export function messageRequest(account: MessagingAccount, message: object): GraphRequest {
  return { ...accountRequest('POST', account, 'messages'), data: message };
}

/** Returns the id of a sent message, or null if the answer to its request has none. */
export function readMessageId({ message_id }: ProviderObject): string | null {
  return textOf(message_id);
}

function accountRequest(
  method: GraphRequest['method'],
  { id, ...account }: MessagingAccount,
  path: string,
): GraphRequest {
  return { method, path: `${id}/${path}`, tokenIn: 'query', ...account };
}
