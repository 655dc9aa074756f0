import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { ConversationKey } from '../../database/tables/table-declaration';
import { AnswerAddressesService } from '../../notices/answers/answer-addresses.service';
import { Visitor, Widget } from './visitor';
import { VisitorsRepository } from './visitors.repository';
import { AnswerAddressResponse } from './widget-answers.dto';
import { GiveAddress } from './widget.dto';

@Injectable()
export class VisitorAddressesService {
  constructor(
    private readonly visitors: VisitorsRepository,
    private readonly addresses: AnswerAddressesService,
  ) {}

  /**
   * Stores where the answers to a visitor go.
   * @throws AppError NOT_FOUND: the visitor has no conversation yet, or the service sends no mails
   */
  async give(widget: Widget, visitor: Visitor, { email, locale }: GiveAddress): Promise<void> {
    await this.addresses.set(await this.findConversation(widget, visitor), { email: email ?? null, locale });
  }

  /** @throws AppError NOT_FOUND: the visitor has no conversation yet */
  async getState(widget: Widget, visitor: Visitor): Promise<AnswerAddressResponse> {
    return { address: await this.addresses.getState(await this.findConversation(widget, visitor)) };
  }

  private async findConversation(
    { tenantId, id }: Widget,
    { externalId }: Visitor,
  ): Promise<ConversationKey> {
    const state = await this.visitors.findState({ tenantId, connectionId: id, externalId });
    if (!state?.conversationId) throw AppError.notFound('Conversation');
    return { tenantId, conversationId: state.conversationId };
  }
}
