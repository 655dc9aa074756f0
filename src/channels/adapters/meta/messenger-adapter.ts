import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { validate } from '../../../common/validate';
import { CheckedCredentials, Connection, HookedAdapter, OutboundMessage } from '../channel-adapter';
import { CredentialText, NumericId } from '../support/credential-text';
import { MESSENGER_VERDICTS } from './messaging-codes';
import { messagingRequests, readMessageId } from './messaging-requests';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput, MetaRequests } from './meta-adapter';
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

const FIELDS = 'messages,messaging_postbacks,message_deliveries,message_reads,message_echoes';

/** The Send API of a Facebook page. */
@Injectable()
export class MessengerAdapter extends MetaAdapter implements HookedAdapter<MessengerCredentials> {
  readonly channel = 'MESSENGER';
  /** Limit of texts of one page. */
  readonly limits = { perSecond: 300, conversationIntervalMs: 0 };
  /** Hold for an echo, which arrives within seconds, with the service's id. */
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

  /** Makes requests with a proof that the service knows the app secret too: an app can require it. */
  protected makeRequests({ pageId, accessToken, appSecret }: MessengerCredentials): MetaRequests {
    const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
    const params = { appsecret_proof: proof };
    return messagingRequests({ api: 'META_GRAPH_URL', id: pageId, accessToken, params, fields: FIELDS });
  }

  /** Makes a RESPONSE: other types need a permission that this service does not request. */
  protected makeBody({ messageId, recipientId, body }: OutboundMessage): object {
    return {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { text: body, [MESSENGER_OWN_ID]: messageId },
    };
  }
}
