import { Injectable } from '@nestjs/common';
import { AttachmentsRepository } from '../../attachments/attachments.repository';
import { VisitorMessageRow } from './visitor-messages.repository';
import { toVisitorMessage, VisitorMessageResponse } from './widget-answers.dto';

/** Adds the attachments to the messages that a visitor gets. */
@Injectable()
export class VisitorAttachments {
  constructor(private readonly attachments: AttachmentsRepository) {}

  async attach(tenantId: string, message: VisitorMessageRow): Promise<VisitorMessageResponse> {
    return (await this.attachAll(tenantId, message.conversationId, [message]))(message);
  }

  /**
   * Reads the attachments of messages of one conversation. Costs a statement only if a message has any.
   * @returns a function that maps each of the messages
   */
  async attachAll(
    tenantId: string,
    conversationId: string,
    messages: VisitorMessageRow[],
  ): Promise<(message: VisitorMessageRow) => VisitorMessageResponse> {
    const ids = messages.filter(({ attachmentCount }) => attachmentCount > 0).map(({ id }) => id);
    const attached = await this.attachments.listOfMessages({ tenantId, conversationId }, ids);
    return (message) => toVisitorMessage(message, attached.get(message.id));
  }
}
