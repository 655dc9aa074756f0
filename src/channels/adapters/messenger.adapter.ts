import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { validate } from '../../common/validate';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  HookRequest,
  InboundEvent,
  OutboundMessage,
  SendOutcome,
} from './channel-adapter';
import { jsonOf } from './hook-body';
import { CredentialText, unlessEmpty } from './credential-text';
import { GraphRequest } from './graph-api';
import { MESSENGER_VERDICTS } from './messenger.codes';
import { OWN_ID_FIELD, readMessaging } from './meta-messaging';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta.adapter';
import { textOf } from './provider-json';

export interface MessengerCredentials extends MetaCredentials {
  pageId: string;
}

class MessengerCredentialsInput extends MetaCredentialsInput {
  @Matches(/^\d{1,30}$/, { message: unlessEmpty('must be the id of a page: digits') })
  pageId: string;

  @CredentialText(1000)
  accessToken: string;
}

/** What of a page's life the app is told. */
const FIELDS = 'messages,messaging_postbacks,message_deliveries,message_reads,message_echoes';

/** Messenger, over the Send API of a Facebook page. */
@Injectable()
export class MessengerAdapter
  extends MetaAdapter<MessengerCredentials>
  implements HookedAdapter<MessengerCredentials>
{
  readonly channel = 'MESSENGER';
  /** Meta's limit for texts of one page. */
  readonly limits = { perSecond: 300, conversationIntervalMs: 0 };
  /** Echoes come within seconds, and hand our id back. */
  readonly unknownHoldMs = 30_000;

  check(
    input: unknown,
    previous?: Connection<MessengerCredentials>,
  ): CheckedCredentials<MessengerCredentials> {
    const given = validate(MessengerCredentialsInput, input);
    return this.checked(given.pageId, given, previous);
  }

  /** Has Meta tell the app about the page. Where the app is called is set once for it, by its owner. */
  async register({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    await this.graph.require(
      this.request('POST', credentials, 'subscribed_apps', { subscribed_fields: FIELDS }),
      'META_GRAPH_URL',
    );
  }

  async unregister({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    await this.graph.require(this.request('DELETE', credentials, 'subscribed_apps'), 'META_GRAPH_URL');
  }

  /** As an answer to the customer: whatever goes beyond needs a permission that this service does not ask for. */
  send(
    { credentials }: Connection<MessengerCredentials>,
    { messageId, recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    const data = {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { text: body, [OWN_ID_FIELD]: messageId },
    };
    const request = this.request('POST', credentials, 'messages');
    return this.graph.send({ ...request, data }, MESSENGER_VERDICTS, ({ message_id }) => textOf(message_id));
  }

  parse(_connection: unknown, request: HookRequest): InboundEvent[] {
    return readMessaging(jsonOf(request));
  }

  /** With the proof that whoever has the token knows the app's secret as well: an app can insist on it. */
  private request(
    method: GraphRequest['method'],
    { pageId, accessToken, appSecret }: MessengerCredentials,
    path: string,
    params: Record<string, string> = {},
  ): GraphRequest {
    const { providerUrls, metaGraphVersion } = this.config;
    const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
    return {
      method,
      url: `${providerUrls.META_GRAPH_URL}/${metaGraphVersion}/${pageId}/${path}`,
      accessToken,
      tokenIn: 'query',
      params: { ...params, appsecret_proof: proof },
    };
  }
}
