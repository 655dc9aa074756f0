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
import { unlessEmpty } from '../support/credential-text';
import { GraphRequest } from './graph-api';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { objectsOf, textOf } from '../support/provider-values';
import { WHATSAPP_VERDICTS } from './whatsapp-codes';
import { OWN_ID_FIELD, readNotification } from './whatsapp-notification';

export interface WhatsAppCredentials extends MetaCredentials {
  phoneNumberId: string;
}

class WhatsAppCredentialsInput extends MetaCredentialsInput {
  @Matches(/^\d{1,30}$/, { message: unlessEmpty('must be the id of a phone number: digits') })
  phoneNumberId: string;

  /** Sent in a header. */
  @Matches(/^[\x21-\x7e]{1,1000}$/, {
    message: unlessEmpty('must be ASCII characters without spaces, at most 1000'),
  })
  accessToken: string;
}

/** The id of a customer who hides their phone number: a country, then an id known to this business only. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.[A-Za-z0-9.]+$/;

/** WhatsApp's Cloud API. */
@Injectable()
export class WhatsAppAdapter
  extends MetaAdapter<WhatsAppCredentials>
  implements HookedAdapter<WhatsAppCredentials>
{
  readonly channel = 'WHATSAPP';
  /** No interval: Meta's limit per customer allows bursts of 45, so we wait only when Meta refuses. */
  readonly limits = { perSecond: 80, conversationIntervalMs: 0 };
  /** Statuses arrive within seconds, with our id. */
  readonly unknownHoldMs = 30_000;

  check(input: unknown, previous?: Connection<WhatsAppCredentials>): CheckedCredentials<WhatsAppCredentials> {
    const given = validate(WhatsAppCredentialsInput, input);
    return this.checked(given.phoneNumberId, given, previous);
  }

  /** Proves the token. The app's owner enters the hook at Meta, once for the app. */
  async register({ credentials }: Connection<WhatsAppCredentials>): Promise<void> {
    await this.graph.require(this.request('GET', credentials, credentials.phoneNumberId), 'META_GRAPH_URL');
  }

  /** The app keeps calling the hook, which refuses. */
  async unregister(): Promise<void> {}

  send(
    { credentials }: Connection<WhatsAppCredentials>,
    { messageId, recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    const to = BUSINESS_SCOPED_ID.test(recipientId) ? { recipient: recipientId } : { to: recipientId };
    const data = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...to,
      type: 'text',
      text: { preview_url: false, body },
      [OWN_ID_FIELD]: messageId,
    };
    const request = this.request('POST', credentials, `${credentials.phoneNumberId}/messages`);
    return this.graph.send({ ...request, data }, WHATSAPP_VERDICTS, ({ messages }) =>
      textOf(objectsOf(messages)[0]?.id),
    );
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): InboundEvent[] {
    return readNotification(jsonOf(request), maxEvents);
  }

  private request(method: 'GET' | 'POST', { accessToken }: WhatsAppCredentials, path: string): GraphRequest {
    const { providerUrls, metaGraphVersion } = this.config;
    return {
      method,
      url: `${providerUrls.META_GRAPH_URL}/${metaGraphVersion}/${path}`,
      accessToken,
      tokenIn: 'header',
    };
  }
}
