import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Page, PageQuery, toPage } from '../../common/page';
import { InboundEdit, InboundUnsend } from '../adapters/hook-events';
import { InboundService } from '../inbound/inbound.service';
import { uploaderOf, Visitor, Widget } from './visitor';
import { VisitorAttachments } from './visitor-attachments';
import { makeProviderId, VisitorMessageRow, VisitorMessagesRepository } from './visitor-messages.repository';
import { VisitorsRepository } from './visitors.repository';
import { PostedMessageResponse, ReceiptResponse, VisitorMessageResponse } from './widget-answers.dto';
import { CLIENT_MESSAGE_ID, EditMessage, PostMessage, PostReceipt } from './widget.dto';
import { WidgetSignal } from '../adapters/widget/widget-signal';

type VisitorChange = Pick<InboundEdit, 'kind' | 'body' | 'metadata' | 'number'> | Pick<InboundUnsend, 'kind'>;

/** Reads and writes the messages of a visitor's own conversation. */
@Injectable()
export class VisitorMessagesService {
  private readonly logger = new Logger(VisitorMessagesService.name);

  constructor(
    private readonly inbound: InboundService,
    private readonly messages: VisitorMessagesRepository,
    private readonly visitors: VisitorsRepository,
    private readonly signal: WidgetSignal,
    private readonly attachments: VisitorAttachments,
  ) {}

  /**
   * Stores a visitor's message once for each client message id.
   * @param onKnown called if the message was stored before; the stored one is returned
   */
  async post(
    widget: Widget,
    { externalId }: Visitor,
    { clientMessageId, body, attachments, name, email }: PostMessage,
    onKnown: () => void,
  ): Promise<PostedMessageResponse> {
    const providerId = makeProviderId(externalId, clientMessageId);
    const isNew = await this.inbound.receive(widget, {
      kind: 'message',
      accountId: widget.externalId,
      providerIds: [providerId],
      customer: { externalId, name: null, phone: null },
      claimed: { name, email },
      body: body ?? '',
      ...(attachments?.length && { uploads: { uploader: uploaderOf(widget, externalId), attachments } }),
      metadata: null,
    });
    const message = await this.messages.findByProviderId(widget.tenantId, widget.id, providerId);
    if (!message) throw new Error('An inbound message was not stored');
    if (!isNew) onKnown();
    else this.notifyTabs(widget, externalId, message.id);
    // Adds the client's id, which the database no longer has for an erased message.
    return this.present(widget, message, clientMessageId);
  }

  /**
   * Replaces the text of a visitor's message. Idempotent.
   * @throws AppError NOT_FOUND, also for a message that was taken back or erased
   */
  async edit(
    widget: Widget,
    visitor: Visitor,
    clientMessageId: string,
    { body }: EditMessage,
  ): Promise<PostedMessageResponse> {
    const edit = { kind: 'edit', body, metadata: null, number: null } as const;
    const changed = await this.change(widget, visitor, clientMessageId, edit);
    if (changed.message.body === '') throw AppError.notFound('Message');
    return changed;
  }

  /**
   * Takes a visitor's message back, which erases it. Idempotent.
   * @throws AppError NOT_FOUND
   */
  unsend(widget: Widget, visitor: Visitor, clientMessageId: string): Promise<PostedMessageResponse> {
    return this.change(widget, visitor, clientMessageId, { kind: 'unsend' });
  }

  private async change(
    widget: Widget,
    { externalId }: Visitor,
    clientMessageId: string,
    change: VisitorChange,
  ): Promise<PostedMessageResponse> {
    const providerId = makeProviderId(externalId, clientMessageId);
    const find = () => this.messages.findByProviderId(widget.tenantId, widget.id, providerId);
    if (!CLIENT_MESSAGE_ID.test(clientMessageId) || !(await find())) throw AppError.notFound('Message');
    const about = { accountId: widget.externalId, customerIds: [externalId] as [string], providerId };
    await this.inbound.change(widget, { ...about, ...change });
    const message = await find();
    if (!message) throw AppError.notFound('Message');
    this.notifyTabs(widget, externalId, message.id);
    return this.present(widget, message, clientMessageId);
  }

  private async present(
    { tenantId }: Widget,
    message: VisitorMessageRow,
    clientMessageId: string,
  ): Promise<PostedMessageResponse> {
    return { message: { ...(await this.attachments.attach(tenantId, message)), clientMessageId } };
  }

  /** Lists messages, newest first. Leaves out QUEUED messages while the workspace is suspended. */
  async list(
    { tenantId, id }: Widget,
    { externalId }: Visitor,
    query: PageQuery,
  ): Promise<Page<VisitorMessageResponse>> {
    const state = await this.visitors.findState({ tenantId, connectionId: id, externalId });
    if (!state?.conversationId) return { data: [], nextCursor: null };
    const withUnsent = !state.isSuspended;
    const rows = await this.messages.list(tenantId, state.conversationId, query, { withUnsent });
    return toPage(rows, query.limit, await this.attachments.attachAll(tenantId, state.conversationId, rows));
  }

  /**
   * Sets the status of the conversation's outbound messages, up to and including the message of the receipt.
   * @throws AppError NOT_FOUND: the message is not in the visitor's conversation
   */
  async receive(widget: Widget, visitor: Visitor, receipt: PostReceipt): Promise<ReceiptResponse> {
    const { messageId, status } = receipt;
    const key = { tenantId: widget.tenantId, connectionId: widget.id, externalId: visitor.externalId };
    const found = isId(messageId) ? await this.visitors.findStateWithMessage(key, messageId) : null;
    if (!found) throw AppError.notFound('Message');
    const { conversationId } = found.state;
    return {
      advanced: await this.visitors.advance(widget.tenantId, conversationId!, messageId, status),
    };
  }

  /** Signals a message to the visitor's other tabs. If this fails, they learn of it at the next heartbeat. */
  private notifyTabs({ id: connectionId }: Widget, externalId: string, messageId: string): void {
    this.signal
      .sendMessage({ connectionId, externalId, messageId })
      .catch((error: Error) =>
        this.logger.warn(
          { err: error },
          "a visitor's other tabs were not notified; the next heartbeat announces the message",
        ),
      );
  }
}
