import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Page, PageQuery } from '../../common/page';
import { MessageResponse, toMessage } from '../../messages/message.dto';
import { MessagesService } from '../../messages/messages.service';
import { InboundService } from '../inbound/inbound.service';
import { Visitor, Widget } from './visitor';
import { VisitorsRepository } from './visitors.repository';
import { PostMessage, PostReceipt } from './widget.dto';
import { PostedMessageResponse, ReceiptResponse } from './widget.response';
import { WidgetSignal } from '../adapters/widget.signal';

/** What visitors write and read: each their own conversation, and no other. */
@Injectable()
export class VisitorMessagesService {
  private readonly logger = new Logger(VisitorMessagesService.name);

  constructor(
    private readonly inbound: InboundService,
    private readonly messages: MessagesService,
    private readonly visitors: VisitorsRepository,
    private readonly signal: WidgetSignal,
  ) {}

  /**
   * Takes in a visitor's message, once for each client message id.
   * @param markKnown called when it was stored before: the answer is then what is stored
   */
  async post(
    widget: Widget,
    { externalId }: Visitor,
    { clientMessageId, body }: PostMessage,
    markKnown: () => void,
  ): Promise<PostedMessageResponse> {
    // The client's id has no space in it: so no two visitors' ids for their messages are one.
    const providerId = `${externalId} ${clientMessageId}`;
    const isNew = await this.inbound.receive(widget, {
      kind: 'message',
      accountId: widget.externalId,
      providerIds: [providerId],
      customer: { externalId, name: null, phone: null },
      body,
      metadata: null,
    });
    const message = await this.visitors.findByProviderId(widget.id, providerId);
    if (!message) throw new Error('A message that was taken in is not stored');
    if (!isNew) markKnown();
    else this.tell(widget, externalId, message.id);
    return { message: toMessage(message) };
  }

  /** A page of the visitor's conversation, newest first. */
  async list(widget: Widget, visitor: Visitor, query: PageQuery): Promise<Page<MessageResponse>> {
    const conversationId = await this.conversationOf(widget, visitor);
    return conversationId
      ? this.messages.list(widget.tenantId, conversationId, query)
      : { data: [], nextCursor: null };
  }

  /**
   * Advances the replies up to and including one.
   * @throws AppError NOT_FOUND: the message is not in the visitor's conversation
   */
  async receive(widget: Widget, visitor: Visitor, receipt: PostReceipt): Promise<ReceiptResponse> {
    const { messageId, status } = receipt;
    const key = { connectionId: widget.id, externalId: visitor.externalId };
    const found = isId(messageId) ? await this.visitors.stateWith(key, messageId) : null;
    if (!found) throw AppError.notFound('Message');
    const { conversationId } = found.state;
    return {
      advanced: await this.visitors.advance(widget.tenantId, conversationId!, messageId, status),
    };
  }

  private async conversationOf({ id }: Widget, { externalId }: Visitor): Promise<string | null> {
    const state = await this.visitors.state({ connectionId: id, externalId });
    return state?.conversationId ?? null;
  }

  /** For the visitor's other tabs. Not waited for: a heartbeat stands behind. */
  private tell({ id: connectionId }: Widget, externalId: string, messageId: string): void {
    this.signal
      .send({ kind: 'message', connectionId, externalId, messageId })
      .catch((error: Error) => this.logger.warn({ err: error }, "a visitor's other tabs were not told"));
  }
}
