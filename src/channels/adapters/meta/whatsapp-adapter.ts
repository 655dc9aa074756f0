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
import { NumericId, unlessEmpty } from '../support/credential-text';
import { parseJson } from '../support/hook-body';
import { objectsOf, ProviderObject, textOf } from '../support/provider-values';
import { GraphApi, GraphRequest } from './graph-api';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { WHATSAPP_VERDICTS } from './whatsapp-codes';
import { readNotification, WHATSAPP_OWN_ID } from './whatsapp-notification';

export interface WhatsAppCredentials extends MetaCredentials {
  phoneNumberId: string;
}

class WhatsAppCredentialsInput extends MetaCredentialsInput {
  @NumericId('a phone number')
  phoneNumberId: string;

  /** The access token, in characters that a header can hold. */
  @Matches(/^[\x21-\x7e]{1,1000}$/, {
    message: unlessEmpty('must be ASCII characters without spaces, at most 1000'),
  })
  accessToken: string;
}

/** Id of a customer who hides their phone number: a country, then an id known to this business only. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.[A-Za-z0-9.]+$/;

/** WhatsApp's Cloud API. */
@Injectable()
export class WhatsAppAdapter extends MetaAdapter implements HookedAdapter<WhatsAppCredentials> {
  readonly channel = 'WHATSAPP';
  /** Limits without an interval: Meta allows bursts of 45 to a customer, and a refusal says when to wait. */
  readonly limits = { perSecond: 80, conversationIntervalMs: 0 };
  /** Hold for a status, which arrives within seconds, with the service's id. */
  readonly unknownHoldMs = 30_000;

  constructor(private readonly graph: GraphApi) {
    super();
  }

  check(input: unknown, previous?: Connection<WhatsAppCredentials>): CheckedCredentials<WhatsAppCredentials> {
    const given = validate(WhatsAppCredentialsInput, input);
    return this.complete(given.phoneNumberId, given, previous);
  }

  /** Proves the token. The app's owner enters the hook at Meta, once for the app. */
  register({ credentials }: Connection<WhatsAppCredentials>): Promise<void> {
    return this.graph.require(graphRequest('GET', credentials, credentials.phoneNumberId));
  }

  /** Does nothing: the app keeps calling the hook, which refuses. */
  unregister(): Promise<void> {
    return Promise.resolve();
  }

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
      [WHATSAPP_OWN_ID]: messageId,
    };
    const request = graphRequest('POST', credentials, `${credentials.phoneNumberId}/messages`);
    return this.graph.send({ ...request, data }, WHATSAPP_VERDICTS, readMessageId);
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): InboundEvent[] {
    return readNotification(parseJson(request), maxEvents);
  }
}

function graphRequest(
  method: GraphRequest['method'],
  { accessToken }: WhatsAppCredentials,
  path: string,
): GraphRequest {
  return { method, api: 'META_GRAPH_URL', path, accessToken, tokenIn: 'header' };
}

function readMessageId({ messages }: ProviderObject): string | null {
  return textOf(objectsOf(messages)[0]?.id);
}
