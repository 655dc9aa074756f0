import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { AnswerAddress } from '../../notices/answer-addresses.repository';
import { AnswerAddressesService } from '../../notices/answer-addresses.service';
import { Visitor, Widget } from './visitor';
import { VisitorsRepository } from './visitors.repository';

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
  async give({ tenantId, id }: Widget, { externalId }: Visitor, address: AnswerAddress): Promise<void> {
    const state = await this.visitors.findState({ tenantId, connectionId: id, externalId });
    if (!state?.conversationId) throw AppError.notFound('Conversation');
    await this.addresses.set({ tenantId, conversationId: state.conversationId }, address);
  }
}
