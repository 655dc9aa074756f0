import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { MessagesModule } from '../../messages/messages.module';
import { RateLimitModule } from '../../rate-limit/rate-limit.module';
import { ChannelsModule } from '../channels.module';
import { InboundModule } from '../inbound/inbound.module';
import { OutboundMessagesRepository } from '../outbound/outbound-messages.repository';
import { VisitorMessagesService } from './visitor-messages.service';
import { VisitorSessionsService } from './visitor-sessions.service';
import { VisitorStreams } from './visitor-streams';
import { VisitorTokens } from './visitor-tokens';
import { VisitorsRepository } from './visitors.repository';
import { WidgetController } from './widget.controller';

/** What the widget on workspaces' pages speaks with: outside the API, with tokens of its own. */
@Module({
  imports: [ChannelsModule, InboundModule, ContactsModule, MessagesModule, RateLimitModule],
  controllers: [WidgetController],
  providers: [
    VisitorTokens,
    VisitorsRepository,
    VisitorSessionsService,
    VisitorMessagesService,
    VisitorStreams,
    OutboundMessagesRepository,
  ],
  exports: [VisitorStreams],
})
export class WidgetModule {}
