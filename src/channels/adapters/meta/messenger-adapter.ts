import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { validate } from '../../../common/validate';
import { CheckedCredentials, Connection, HookedAdapter, OutboundMessage } from '../channel-adapter';
import { CredentialText, NumericId } from '../support/credential-text';
import { GraphRequest } from './graph-api';
import { MESSENGER_VERDICTS } from './messaging-codes';
import {
  MessagingAccount,
  messagingRegistration,
  messagingSendRequest,
  readMessageId,
} from './messaging-requests';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput, MetaRegistration } from './meta-adapter';
import { MESSENGER_OWN_ID, readMessaging } from './meta-messaging';

export interface MessengerCredentials extends MetaCredentials {
  pageId: string;
}

class MessengerCredentialsInput extends MetaCredentialsInput {
  @NumericId('a page')
  pageId: string;

  @CredentialText(1000)
  accessToken: string;
}

const FIELDS =
  'messages,message_edits,message_reactions,messaging_postbacks,message_deliveries,message_reads,message_echoes';

/** Sends and receives messages of a Facebook page in Messenger. */
@Injectable()
export class MessengerAdapter
  extends MetaAdapter<MessengerCredentials>
  implements HookedAdapter<MessengerCredentials>
{
  readonly channel = 'MESSENGER';
  /** Limit of 300 texts a second for a page. */
  readonly limits = { perSecond: 300, conversationIntervalMs: 0 };
  /**
   * Hold of 30 s after an unknown outcome, for the echo, which arrives within seconds with the service's id
   * of the message.
   */
  readonly unknownHoldMs = 30_000;
  protected readonly verdicts = MESSENGER_VERDICTS;
  protected readonly readMessageId = readMessageId;
  protected readonly readEvents = readMessaging;

  check(
    input: unknown,
    previous?: Connection<MessengerCredentials>,
  ): CheckedCredentials<MessengerCredentials> {
    const given = validate(MessengerCredentialsInput, input);
    return this.complete(given.pageId, given, previous);
  }

  protected makeRegistration(credentials: MessengerCredentials): MetaRegistration {
    return messagingRegistration(accountOf(credentials), FIELDS);
  }

  /**
   * Makes a message of the type RESPONSE, because other types need a permission that the service does not ask
   * for.
   */
  protected makeSendRequest(
    credentials: MessengerCredentials,
    { messageId, recipientId, body }: OutboundMessage,
  ): GraphRequest {
    return messagingSendRequest(accountOf(credentials), {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { text: body, [MESSENGER_OWN_ID]: messageId },
    });
  }
}

/**
 * Returns the page with a proof for each of its requests, made with the app secret, because an app can
 * require one.
 */
function accountOf({ pageId, accessToken, appSecret }: MessengerCredentials): MessagingAccount {
  const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
  return { api: 'META_GRAPH_URL', id: pageId, accessToken, params: { appsecret_proof: proof } };
}
