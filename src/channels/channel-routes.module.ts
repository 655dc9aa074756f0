import { Module } from '@nestjs/common';
import { AttachmentsModule } from '../attachments/attachments.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { PresenceModule } from '../inbox/inbox.module';
import { MessagesModule } from '../messages/messages.module';
import { NoticesModule } from '../notices/notices.module';
import { SecretsModule } from '../secrets/secrets.module';
import { ChannelsModule } from './channels.module';
import { HOOK_CONTROLLERS } from './inbound/hook.controllers';
import { HookBodies } from './inbound/hook-bodies';
import { HookEventsService } from './inbound/hook-events.service';
import { HooksService } from './inbound/hooks.service';
import { ReceivedAttachments } from './fetches/received-attachments';
import { InboundContents } from './inbound/inbound-contents';
import { InboundMessageWriter } from './inbound/inbound-message-writer';
import { InboundService } from './inbound/inbound.service';
import { ReceptionTimes } from './inbound/reception-times';
import { LinkedFilesController } from './outbound/parts/linked-files.controller';
import { LinkedFilesService } from './outbound/parts/linked-files.service';
import { ReceiptsRepository } from './receipts/receipts.repository';
import { ReceiptsService } from './receipts/receipts.service';
import { AnswersController } from './widget/answers.controller';
import { TypingController } from './widget/typing.controller';
import { VisitorAddressesService } from './widget/visitor-addresses.service';
import { VisitorAttachments } from './widget/visitor-attachments';
import { VisitorFilesController } from './widget/visitor-files.controller';
import { VisitorFilesService } from './widget/visitor-files.service';
import { VisitorMessagesRepository } from './widget/visitor-messages.repository';
import { VisitorMessagesService } from './widget/visitor-messages.service';
import { VisitorSessionsService } from './widget/visitor-sessions.service';
import { VisitorStreams } from './widget/visitor-streams';
import { VisitorTokens } from './widget/visitor-tokens';
import { VisitorsRepository } from './widget/visitors.repository';
import { WidgetController } from './widget/widget.controller';

/** Serves the routes outside the REST API: providers' hooks, without an API key, and the widget's routes. */
@Module({
  imports: [
    AttachmentsModule,
    ChannelsModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
    NoticesModule,
    PresenceModule,
    RateLimitModule,
    SecretsModule,
  ],
  controllers: [
    ...HOOK_CONTROLLERS,
    LinkedFilesController,
    WidgetController,
    VisitorFilesController,
    TypingController,
    AnswersController,
  ],
  providers: [
    HookBodies,
    HookEventsService,
    HooksService,
    InboundContents,
    InboundMessageWriter,
    InboundService,
    ReceivedAttachments,
    LinkedFilesService,
    ReceiptsRepository,
    ReceiptsService,
    ReceptionTimes,
    VisitorAddressesService,
    VisitorAttachments,
    VisitorFilesService,
    VisitorMessagesRepository,
    VisitorMessagesService,
    VisitorSessionsService,
    VisitorStreams,
    VisitorTokens,
    VisitorsRepository,
  ],
})
export class ChannelRoutesModule {}
