import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { validate } from '../../../common/validate';
import { isBusinessScoped } from '../../../contacts/identity-forms';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  HookRequest,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { NumericId, faultUnlessEmpty } from '../credential-text';
import { parseJson } from '../hook-body';
import { HookEvent } from '../hook-events';
import { objectsOf, ProviderObject, textOf } from '../provider-values';
import { GraphRequest } from './graph-api';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { WHATSAPP_VERDICTS } from './whatsapp-codes';
import { readAnsweredIds } from './whatsapp-ids';
import { readNotification, WHATSAPP_OWN_ID } from './whatsapp-notification';

interface WhatsAppCredentials extends MetaCredentials {
  phoneNumberId: string;
}

class WhatsAppCredentialsInput extends MetaCredentialsInput {
  @NumericId('a phone number')
  phoneNumberId: string;

  @Matches(/^[\x21-\x7e]{1,1000}$/, faultUnlessEmpty('not_token', { max: 1000 }))
  accessToken: string;
}

/** Sends and receives messages of a phone number through WhatsApp's Cloud API. */
@Injectable()
export class WhatsAppAdapter
  extends MetaAdapter<WhatsAppCredentials>
  implements HookedAdapter<WhatsAppCredentials>
{
  readonly channel = 'WHATSAPP';
  /**
   * Meta accepts 80 messages a second from a number, and bursts of 45 messages to one customer. No interval
   * is kept within a conversation, because messages above a burst are refused and then retried.
   */
  readonly limits = { perSecond: 80, conversationIntervalMs: 0 };
  /** Milliseconds to wait for WhatsApp's report that a message with an unknown outcome was sent. */
  readonly unknownHoldMs = 30_000;
  protected readonly verdicts = WHATSAPP_VERDICTS;

  check(input: unknown, previous?: Connection<WhatsAppCredentials>): CheckedCredentials<WhatsAppCredentials> {
    const given = validate(WhatsAppCredentialsInput, input);
    return this.complete(given.phoneNumberId, given, previous);
  }

  async prove({ credentials }: Connection<WhatsAppCredentials>): Promise<void> {
    await this.graph.require(toRequest(credentials, 'GET', ''));
  }

  /** Does nothing, because the app's owner enters the hook's URL at Meta, once for the whole app. */
  async register(): Promise<void> {}

  /** Does nothing. Meta still calls the hook, and the service refuses these calls. */
  async unregister(): Promise<void> {}

  override async send(
    { credentials }: Connection<WhatsAppCredentials>,
    message: OutboundMessage,
  ): Promise<SendOutcome> {
    let answer: ProviderObject = {};
    const request = this.makeSendRequest(credentials, message);
    const outcome = await this.graph.send(request, this.verdicts, (body) => {
      answer = body;
      return this.readMessageId(body);
    });
    if (outcome.kind !== 'SENT') return outcome;
    return { ...outcome, recipientIds: readAnsweredIds(answer, message.recipientId) };
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): HookEvent[] {
    return readNotification(parseJson(request), maxEvents);
  }

  protected makeSendRequest(
    credentials: WhatsAppCredentials,
    { messageId, recipientId, body }: OutboundMessage,
  ): GraphRequest {
    const to = isBusinessScoped(recipientId) ? { recipient: recipientId } : { to: recipientId };
    return toRequest(credentials, 'POST', '/messages', {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...to,
      type: 'text',
      text: { preview_url: false, body },
      [WHATSAPP_OWN_ID]: messageId,
    });
  }

  protected readMessageId({ messages }: ProviderObject): string | null {
    return textOf(objectsOf(messages)[0]?.id);
  }
}

function toRequest(
  { phoneNumberId, accessToken }: WhatsAppCredentials,
  method: GraphRequest['method'],
  path: string,
  data?: object,
): GraphRequest {
  return {
    method,
    api: 'META_GRAPH_URL',
    path: phoneNumberId + path,
    accessToken,
    tokenIn: 'header',
    data,
  };
}
