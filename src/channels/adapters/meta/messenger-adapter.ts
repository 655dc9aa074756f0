import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { validate } from '../../../common/validate';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  HookRequest,
  InboundEvent,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { jsonOf } from '../support/hook-body';
import { CredentialText, unlessEmpty } from '../support/credential-text';
import { GraphRequest } from './graph-api';
import { MESSENGER_VERDICTS } from './messenger-codes';
import { OWN_ID_FIELD, readMessaging } from './meta-messaging';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { textOf } from '../support/provider-values';

export interface MessengerCredentials extends MetaCredentials {
  pageId: string;
}

class MessengerCredentialsInput extends MetaCredentialsInput {
  @Matches(/^\d{1,30}$/, { message: unlessEmpty('must be the id of a page: digits') })
  pageId: string;

  @CredentialText(1000)
  accessToken: string;
}

const FIELDS = 'messages,messaging_postbacks,message_deliveries,message_reads,message_echoes';

/** The Send API of a Facebook page. */
@Injectable()
export class MessengerAdapter
  extends MetaAdapter<MessengerCredentials>
  implements HookedAdapter<MessengerCredentials>
{
  readonly channel = 'MESSENGER';
  /** Meta's limit for texts of one page. */
  readonly limits = { perSecond: 300, conversationIntervalMs: 0 };
  /** Echoes arrive within seconds, with our id. */
  readonly unknownHoldMs = 30_000;

  check(
    input: unknown,
    previous?: Connection<MessengerCredentials>,
  ): CheckedCredentials<MessengerCredentials> {
    const given = validate(MessengerCredentialsInput, input);
    return this.checked(given.pageId, given, previous);
  }

  /** Subscribes the app to the page's events. The app's owner enters the hook at Meta, once for the app. */
  async register({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    await this.graph.require(
      this.request('POST', credentials, 'subscribed_apps', { subscribed_fields: FIELDS }),
      'META_GRAPH_URL',
    );
  }

  async unregister({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    await this.graph.require(this.request('DELETE', credentials, 'subscribed_apps'), 'META_GRAPH_URL');
  }

  /** As RESPONSE: other types need a permission that this service does not request. */
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

  parse(_connection: unknown, request: HookRequest, maxEvents: number): InboundEvent[] {
    return readMessaging(jsonOf(request), maxEvents);
  }

  /** The proof shows Meta that we know the app secret too. An app can require it. */
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
