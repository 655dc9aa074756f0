import { FileForm } from '../../../common/file-limits';
import { Connection, FetchOutcome, HookRequest, OutboundMessage, SendOutcome } from '../channel-adapter';
import { parseJson } from '../hook-body';
import { FileReference, HookEvent } from '../hook-events';
import { ProviderObject, textOf } from '../provider-values';
import { GraphRequest } from './graph-api';
import { MetaAdapter, MetaCredentials } from './meta-adapter';
import { readMessaging } from './meta-messaging';

/** Facebook page or Instagram account, with the parts that all its requests have in common. */
export interface MessagingAccount extends Pick<GraphRequest, 'api' | 'accessToken' | 'params'> {
  id: string;
}

/** Text or file of a message. */
export type MessagingContent = { text: string } | { attachment: { type: FileForm; payload: object } };

/** Implements the part that the Messenger and Instagram adapters share: Meta's Messenger Platform. */
export abstract class MessagingAdapter<Credentials extends MetaCredentials> extends MetaAdapter<Credentials> {
  /** Milliseconds to wait for Meta's report that a message with an unknown outcome was sent. */
  readonly unknownHoldMs = 30_000;
  readonly refusesLater = false;
  protected abstract readonly fields: string;

  async prove({ credentials }: Connection<Credentials>): Promise<void> {
    await this.graph.require(this.toRequest(credentials, 'GET', '', { params: { fields: 'id' } }));
  }

  /** Subscribes the app to the account's events. The app's owner enters the hook's URL at Meta. */
  async register({ credentials }: Connection<Credentials>): Promise<void> {
    const params = { subscribed_fields: this.fields };
    await this.graph.require(this.toRequest(credentials, 'POST', '/subscribed_apps', { params }));
  }

  async unregister({ credentials }: Connection<Credentials>): Promise<void> {
    await this.graph.require(this.toRequest(credentials, 'DELETE', '/subscribed_apps'));
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): HookEvent[] {
    return readMessaging(parseJson(request), maxEvents);
  }

  /** Fetches a file from the signed address that its message had. */
  fetchFile(
    { credentials }: Connection<Credentials>,
    { url }: FileReference,
    signal: AbortSignal,
  ): Promise<FetchOutcome> {
    return this.graph.fetchFile(url!, { api: this.accountOf(credentials).api, signal });
  }

  protected abstract accountOf(credentials: Credentials): MessagingAccount;

  protected abstract makeBody(message: Omit<OutboundMessage, 'body'>, content: MessagingContent): object;

  /** Posts a message with a file, of which Meta knows an id or an address. */
  protected postFile(
    credentials: Credentials,
    file: Omit<OutboundMessage, 'body'> & { form: FileForm },
    payload: object,
    timeoutMs?: number,
  ): Promise<SendOutcome> {
    const content = { attachment: { type: file.form, payload } };
    const request = this.toRequest(credentials, 'POST', '/messages', { data: this.makeBody(file, content) });
    return this.graph.send(request, this.verdicts, (body) => this.readMessageId(body), timeoutMs);
  }

  protected makeSendRequest(credentials: Credentials, message: OutboundMessage): GraphRequest {
    const data = this.makeBody(message, { text: message.body });
    return this.toRequest(credentials, 'POST', '/messages', { data });
  }

  protected readMessageId(this: void, { message_id: id }: ProviderObject): string | null {
    return textOf(id);
  }

  protected toRequest(
    credentials: Credentials,
    method: GraphRequest['method'],
    path: string,
    { params, data }: Pick<GraphRequest, 'params' | 'data'> = {},
  ): GraphRequest {
    const { id, ...account } = this.accountOf(credentials);
    return {
      ...account,
      method,
      path: id + path,
      tokenIn: 'query',
      params: { ...account.params, ...params },
      data,
    };
  }
}
