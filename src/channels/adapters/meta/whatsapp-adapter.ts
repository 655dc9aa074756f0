import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import { MAX_FILE_BYTES } from '../../../common/file-limits';
import { validate } from '../../../common/validate';
import { isBusinessScoped } from '../../../contacts/identity-forms';
import {
  CheckedCredentials,
  Connection,
  FetchOutcome,
  HookedAdapter,
  HookRequest,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { NumericId, faultUnlessEmpty } from '../credential-text';
import { FileSending, OutboundFile } from '../outbound-file';
import { parseJson } from '../hook-body';
import { FileReference, HookEvent } from '../hook-events';
import { numberOf, objectsOf, ProviderObject, textOf } from '../provider-values';
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

/** Milliseconds for which the id of an upload is used. Meta keeps uploads for 30 days. */
const UPLOAD_LIVES_MS = 29 * 24 * 60 * 60 * 1000;
/** WhatsApp's name of each form. */
const TYPES = { image: 'image', audio: 'audio', video: 'video', file: 'document' } as const;

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
  readonly refusesLater = true;
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
    return this.post(this.makeSendRequest(credentials, message), message.recipientId);
  }

  async sendFile(
    { credentials }: Connection<WhatsAppCredentials>,
    file: OutboundFile,
    sending: FileSending,
  ): Promise<SendOutcome> {
    let mediaId = sending.known;
    if (mediaId === null) {
      const uploaded = await this.upload(credentials, file, sending);
      if (uploaded.kind !== 'SENT') return uploaded;
      mediaId = uploaded.providerId!;
      sending.keep(mediaId, UPLOAD_LIVES_MS);
    }
    await sending.begin();
    const { form, name, caption } = file;
    const type = TYPES[form];
    const request = makeRequest(credentials, file, {
      type,
      [type]: {
        id: mediaId,
        ...(caption !== null && { caption }),
        ...(form === 'file' && { filename: name }),
      },
    });
    return this.post(request, file.recipientId);
  }

  private async upload(
    credentials: WhatsAppCredentials,
    { name, contentType, size }: OutboundFile,
    { open, signal }: FileSending,
  ): Promise<SendOutcome> {
    const fields = { messaging_product: 'whatsapp', type: contentType };
    const file = { field: 'file', name, contentType, size, content: await open() };
    const request = toRequest(credentials, 'POST', '/media');
    return this.graph.upload(request, { fields, file, signal }, this.verdicts, ({ id }) => textOf(id));
  }

  /** Posts a message. The answer has WhatsApp's own spelling of the customer's number. */
  private async post(request: GraphRequest, recipientId: string): Promise<SendOutcome> {
    let answer: ProviderObject = {};
    const outcome = await this.graph.send(request, this.verdicts, (body) => {
      answer = body;
      return this.readMessageId(body);
    });
    if (outcome.kind !== 'SENT') return outcome;
    return { ...outcome, recipientIds: readAnsweredIds(answer, recipientId) };
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): HookEvent[] {
    return readNotification(parseJson(request), maxEvents);
  }

  /**
   * Asks for the file's address, and fetches it with the same token. An address that is not found is asked
   * for once more; then the token must be wrong.
   */
  async fetchFile(
    { credentials }: Connection<WhatsAppCredentials>,
    { id }: FileReference,
    signal: AbortSignal,
  ): Promise<FetchOutcome> {
    const { phoneNumberId, accessToken } = credentials;
    const api = 'META_GRAPH_URL';
    const params = { phone_number_id: phoneNumberId };
    const request = { method: 'GET', api, path: id!, accessToken, tokenIn: 'header', params } as const;
    let outcome: FetchOutcome = { kind: 'RETRY' };
    for (let tries = 0; tries < 2; tries++) {
      const found = await this.graph.findFile(request, this.verdicts);
      if ('kind' in found) return found as FetchOutcome;
      if ((numberOf(found.file_size) ?? 0) > MAX_FILE_BYTES) return { kind: 'TOO_BIG' };
      const url = textOf(found.url);
      if (url === null) return { kind: 'GONE' };
      outcome = await this.graph.fetchFile(url, { api, authorization: `Bearer ${accessToken}`, signal });
      if (outcome.kind !== 'GONE') return outcome;
    }
    return { kind: 'REAUTH' };
  }

  protected makeSendRequest(credentials: WhatsAppCredentials, message: OutboundMessage): GraphRequest {
    const text = { preview_url: false, body: message.body };
    return makeRequest(credentials, message, { type: 'text', text });
  }

  protected readMessageId({ messages }: ProviderObject): string | null {
    return textOf(objectsOf(messages)[0]?.id);
  }
}

function makeRequest(
  credentials: WhatsAppCredentials,
  { messageId, recipientId }: Pick<OutboundMessage, 'messageId' | 'recipientId'>,
  content: object,
): GraphRequest {
  const to = isBusinessScoped(recipientId) ? { recipient: recipientId } : { to: recipientId };
  return toRequest(credentials, 'POST', '/messages', {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...to,
    ...content,
    [WHATSAPP_OWN_ID]: messageId,
  });
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
