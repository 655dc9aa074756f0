import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
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
import { CredentialText, NumericId } from '../support/credential-text';
import { parseJson } from '../support/hook-body';
import { GraphApi } from './graph-api';
import { MESSENGER_VERDICTS } from './messaging-codes';
import {
  MessagingAccount,
  readMessageId,
  messageRequest,
  subscribeRequest,
  unsubscribeRequest,
} from './messaging-requests';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
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

  constructor(private readonly graph: GraphApi) {
    super();
  }

  check(
    input: unknown,
    previous?: Connection<MessengerCredentials>,
  ): CheckedCredentials<MessengerCredentials> {
    const given = validate(MessengerCredentialsInput, input);
    return this.complete(given.pageId, given, previous);
  }

  register({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    return this.graph.require(subscribeRequest(pageOf(credentials), FIELDS));
  }

  unregister({ credentials }: Connection<MessengerCredentials>): Promise<void> {
    return this.graph.require(unsubscribeRequest(pageOf(credentials)));
  }

  /** Sends a message as a RESPONSE: other types need a permission that this service does not request. */
  send(
    { credentials }: Connection<MessengerCredentials>,
    { messageId, recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    const request = messageRequest(pageOf(credentials), {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { text: body, [MESSENGER_OWN_ID]: messageId },
    });
    return this.graph.send(request, MESSENGER_VERDICTS, readMessageId);
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): InboundEvent[] {
    return readMessaging(parseJson(request), maxEvents);
  }
}

/** Returns the page, with the proof that the service knows the app secret too: an app can require it. */
function pageOf({ pageId, accessToken, appSecret }: MessengerCredentials): MessagingAccount {
  const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
  return { api: 'META_GRAPH_URL', id: pageId, accessToken, params: { appsecret_proof: proof } };
}
