import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { validate } from '../../../common/validate';
import { CheckedCredentials, Connection, HookedAdapter, OutboundMessage } from '../channel-adapter';
import { NumericId, faultUnlessEmpty } from '../support/credential-text';
import { objectsOf, ProviderObject, textOf } from '../support/provider-values';
import { GraphRequest } from './graph-api';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput, MetaRegistration } from './meta-adapter';
import { WHATSAPP_VERDICTS } from './whatsapp-codes';
import { readNotification, WHATSAPP_OWN_ID } from './whatsapp-notification';

export interface WhatsAppCredentials extends MetaCredentials {
  phoneNumberId: string;
}

class WhatsAppCredentialsInput extends MetaCredentialsInput {
  @NumericId('a phone number')
  phoneNumberId: string;

  /** Access token, in characters that an HTTP header can hold. */
  @Matches(/^[\x21-\x7e]{1,1000}$/, faultUnlessEmpty('not_token', { max: 1000 }))
  accessToken: string;
}

/** Id of a customer who hides their phone number: a country, then an id known to this business only. */
const BUSINESS_SCOPED_ID = /^[A-Z]{2}\.[A-Za-z0-9.]+$/;

/** Sends and receives messages of a phone number through WhatsApp's Cloud API. */
@Injectable()
export class WhatsAppAdapter
  extends MetaAdapter<WhatsAppCredentials>
  implements HookedAdapter<WhatsAppCredentials>
{
  readonly channel = 'WHATSAPP';
  /**
   * Limit of 80 messages a second for a number. Conversations have no interval: Meta allows bursts of 45
   * messages to a customer, and a refusal says when to wait.
   */
  readonly limits = { perSecond: 80, conversationIntervalMs: 0 };
  /**
   * Hold of 30 s after an unknown outcome, for the status, which arrives within seconds with the service's id
   * of the message.
   */
  readonly unknownHoldMs = 30_000;
  protected readonly verdicts = WHATSAPP_VERDICTS;
  protected readonly readMessageId = readMessageId;
  protected readonly readEvents = readNotification;

  check(input: unknown, previous?: Connection<WhatsAppCredentials>): CheckedCredentials<WhatsAppCredentials> {
    const given = validate(WhatsAppCredentialsInput, input);
    return this.complete(given.phoneNumberId, given, previous);
  }

  /**
   * Makes the requests about a phone number's hook. `register` only proves that the token works: the app's
   * owner enters the hook's address at Meta, once for the app. After `unregister` Meta still calls the hook,
   * and is refused.
   */
  protected makeRegistration(credentials: WhatsAppCredentials): MetaRegistration {
    return {
      prove: { ...targetOf(credentials), method: 'GET', path: credentials.phoneNumberId },
      register: null,
      unregister: null,
    };
  }

  protected makeSendRequest(
    credentials: WhatsAppCredentials,
    { messageId, recipientId, body }: OutboundMessage,
  ): GraphRequest {
    const to = BUSINESS_SCOPED_ID.test(recipientId) ? { recipient: recipientId } : { to: recipientId };
    return {
      ...targetOf(credentials),
      method: 'POST',
      path: `${credentials.phoneNumberId}/messages`,
      data: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        ...to,
        type: 'text',
        text: { preview_url: false, body },
        [WHATSAPP_OWN_ID]: messageId,
      },
    };
  }
}

function targetOf({
  accessToken,
}: WhatsAppCredentials): Pick<GraphRequest, 'api' | 'accessToken' | 'tokenIn'> {
  return { api: 'META_GRAPH_URL', accessToken, tokenIn: 'header' };
}

function readMessageId({ messages }: ProviderObject): string | null {
  return textOf(objectsOf(messages)[0]?.id);
}
