import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { validate } from '../../../common/validate';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { CredentialText, NumericId } from '../credential-text';
import { FileSending, OutboundFile } from '../outbound-file';
import { ProviderObject, textOf } from '../provider-values';
import { MessagingAccount, MessagingAdapter, MessagingContent } from './messaging-adapter';
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

/** Milliseconds for which the id of an upload is used. Meta keeps uploads for 90 days. */
const UPLOAD_LIVES_MS = 89 * 24 * 60 * 60 * 1000;

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

  async sendFile(
    { credentials }: Connection<MessengerCredentials>,
    file: OutboundFile,
    sending: FileSending,
  ): Promise<SendOutcome> {
    let attachmentId = sending.known;
    if (attachmentId === null) {
      const uploaded = await this.upload(credentials, file, sending);
      if (uploaded.kind !== 'SENT') return uploaded;
      attachmentId = uploaded.providerId!;
      sending.keep(attachmentId, UPLOAD_LIVES_MS);
    }
    await sending.begin();
    return this.postFile(credentials, file, { attachment_id: attachmentId });
  }

  private async upload(
    credentials: MessengerCredentials,
    { form, name, contentType, size }: OutboundFile,
    { open, signal }: FileSending,
  ): Promise<SendOutcome> {
    const attachment = { type: form, payload: { is_reusable: true } };
    const fields = { message: JSON.stringify({ attachment }) };
    const file = { field: 'filedata', name, contentType, size, content: await open() };
    const request = this.toRequest(credentials, 'POST', '/message_attachments');
    const readId = ({ attachment_id: id }: ProviderObject) => textOf(id);
    return this.graph.upload(request, { fields, file, signal }, this.verdicts, readId);
  }

  /** Adds `appsecret_proof`, an HMAC of the access token, because an app can be configured to require it. */
  protected accountOf({ pageId, accessToken, appSecret }: MessengerCredentials): MessagingAccount {
    const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex');
    return { api: 'META_GRAPH_URL', id: pageId, accessToken, params: { appsecret_proof: proof } };
  }

  /** Makes a message of type RESPONSE. Other types need a permission for which the service does not ask. */
  protected makeBody(
    { messageId, recipientId }: Omit<OutboundMessage, 'body'>,
    content: MessagingContent,
  ): object {
    return {
      recipient: { id: recipientId },
      messaging_type: 'RESPONSE',
      message: { ...content, [MESSENGER_OWN_ID]: messageId },
    };
  }
}
