import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { validate } from '../../../common/validate';
import { CheckedCredentials, Connection, HookedAdapter, OutboundMessage } from '../channel-adapter';
import { CredentialText, NumericId } from '../credential-text';
import { MessagingAccount, MessagingAdapter } from './messaging-adapter';
import { MESSENGER_VERDICTS } from './messaging-codes';
import { MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { MESSENGER_OWN_ID } from './meta-messaging';

interface MessengerCredentials extends MetaCredentials {
  pageId: string;
}

class MessengerCredentialsInput extends MetaCredentialsInput {
  @NumericId('a page')
  pageId: string;

  @CredentialText(1000)
  accessToken: string;
}

@Injectable()
export class MessengerAdapter
  extends MessagingAdapter<MessengerCredentials>
  implements HookedAdapter<MessengerCredentials>
{
  readonly channel = 'MESSENGER';
  /** Meta accepts 300 texts a second for a page. */
  readonly limits = { perSecond: 300, conversationIntervalMs: 0 };
  protected readonly verdicts = MESSENGER_VERDICTS;
  protected readonly fields =
    'messages,message_edits,message_reactions,messaging_postbacks,message_deliveries,message_reads,message_echoes';

  check(
    input: unknown,
    previous?: Connection<MessengerCredentials>,
  ): CheckedCredentials<MessengerCredentials> {
    const given = validate(MessengerCredentialsInput, input);
    return this.complete(given.pageId, given, previous);
  }

  /** Adds `appsecret_proof`, an HMAC of the access token, because an app can be configured to require it. */
  protected accountOf({ pageId, accessToken, appSecret }: MessengerCredentials): MessagingAccount {
    const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
    return { api: 'META_GRAPH_URL', id: pageId, accessToken, params: { appsecret_proof: proof } };
  }

  /** Makes a message of type RESPONSE. Other types need a permission for which the service does not ask. */
  protected makeBody({ messageId, recipientId, body }: OutboundMessage): object {
    return {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { text: body, [MESSENGER_OWN_ID]: messageId },
    };
  }
}
