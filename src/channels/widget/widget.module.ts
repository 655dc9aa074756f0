import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { MessagesModule } from '../../messages/messages.module';
import { InboxModule } from '../../inbox/inbox.module';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { InboundModule } from '../inbound/inbound.module';
import { OutboundMessagesModule } from '../outbound/outbound-messages.module';
import { TypingController } from './typing.controller';
import { VisitorMessagesRepository } from './visitor-messages.repository';
import { VisitorMessagesService } from './visitor-messages.service';
import { VisitorSessionsService } from './visitor-sessions.service';
import { VisitorStreams } from './visitor-streams';
import { VisitorTokens } from './visitor-tokens';
import { VisitorsRepository } from './visitors.repository';
import { WidgetController } from './widget.controller';

/** Serves the widget's routes, which are outside the REST API and have tokens of their own. */
@Module({
  imports: [
    ChannelAdaptersModule,
    ChannelConnectionsModule,
    InboundModule,
    OutboundMessagesModule,
    ContactsModule,
    MessagesModule,
    InboxModule,
    RateLimitModule,
    SecretsModule,
  ],
  controllers: [WidgetController, TypingController],
  providers: [
    VisitorTokens,
    VisitorsRepository,
    VisitorMessagesRepository,
    VisitorSessionsService,
    VisitorMessagesService,
    VisitorStreams,
  ],
  exports: [VisitorStreams],
})
export class WidgetModule {}
