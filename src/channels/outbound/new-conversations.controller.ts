import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Actor, type Principal } from '../../access/principal';
import { ConversationResponse, CreateConversation } from '../../conversations/conversation.dto';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../../http/access.decorators';
import { ApiAnswer, ApiBodyErrors, ApiIdempotencyKey } from '../../http/api.decorators';
import { NoQuery } from '../../http/request.pipe';
import { Idempotent, type IdempotentRequest } from '../../idempotency/idempotent-request';
import { NewConversationsService } from './new-conversations.service';

const DESCRIPTION = `
The workspace must be connected on the channel, and the contact must have an id there: it gets one when it first writes, or
when it is created with an \`identity\`. The conversation has no message yet. What the customer writes next on the channel goes
to it: another conversation with them there is not continued, even if it is open. On WIDGET and TELEGRAM a message can be sent
at any time, on TELEGRAM to whoever has started the bot. WHATSAPP, MESSENGER and INSTAGRAM take one within 24 hours after the
customer's latest message: any other fails with \`WINDOW_CLOSED\`.
`.trim();

@ApiTags('Conversations')
@Controller('conversations')
export class NewConversationsController {
  constructor(private readonly conversations: NewConversationsService) {}

  @Post()
  @RequireScope('conversations:create')
  @NoQuery()
  @ApiIdempotencyKey()
  @ApiAnswer('Open a conversation with a contact', ConversationResponse, {
    status: 201,
    headers: ['Idempotency-Replayed'],
    operationId: 'createConversation',
    description: DESCRIPTION,
  })
  @ApiBodyErrors('NOT_FOUND', 'IDEMPOTENCY_CONFLICT')
  create(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Body() conversation: CreateConversation,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<ConversationResponse> {
    return this.conversations.create(tenant.id, conversation, actor, request);
  }
}
