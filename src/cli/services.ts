import { DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Client } from 'pg';
import { ApiKeysService } from '../auth/api-keys.service';
import { ChannelConnectionsService } from '../channels/connections/channel-connections.service';
import { Config } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { ContactsService } from '../contacts/contacts.service';
import { ConversationsService } from '../conversations/conversations.service';
import { MessagesService } from '../messages/messages.service';
import { MessagingModule } from '../messaging.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { WebhookDeliveriesService } from '../webhooks/deliveries/webhook-deliveries.service';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../webhooks/recoveries/webhook-recoveries.service';
import { WebhookTestService } from '../webhooks/endpoints/webhook-test.service';
import { AgentsService } from '../workspaces/agents.service';
import { WorkspacesService } from '../workspaces/workspaces.service';
import { OperatorLookup } from './operator-lookup';

const CONNECT_TIMEOUT_MS = 3_000;

/** What the commands work with. */
export interface Services {
  workspaces: WorkspacesService;
  agents: AgentsService;
  apiKeys: ApiKeysService;
  webhookEndpoints: WebhookEndpointsService;
  webhookDeliveries: WebhookDeliveriesService;
  webhookRecoveries: WebhookRecoveriesService;
  webhookTests: WebhookTestService;
  keyRotation: KeyRotationService;
  channelConnections: ChannelConnectionsService;
  contacts: ContactsService;
  conversations: ConversationsService;
  messages: MessagesService;
  lookup: OperatorLookup;
}

@Module({})
class OperatorModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: OperatorModule,
      imports: [MessagingModule.over(ConfigModule.forRoot(config))],
      providers: [OperatorLookup],
    };
  }
}

/** Starts what a dashboard backend imports, lends its services to `work`, and closes it. */
export async function useServices(work: (services: Services) => Promise<void>): Promise<void> {
  const config = Config.from();
  await requireDatabase(config);
  const app = await NestFactory.createApplicationContext(OperatorModule.forRoot(config), {
    logger: false,
    abortOnError: false,
  });
  try {
    await work({
      workspaces: app.get(WorkspacesService, { strict: false }),
      agents: app.get(AgentsService, { strict: false }),
      apiKeys: app.get(ApiKeysService, { strict: false }),
      webhookEndpoints: app.get(WebhookEndpointsService, { strict: false }),
      webhookDeliveries: app.get(WebhookDeliveriesService, { strict: false }),
      webhookRecoveries: app.get(WebhookRecoveriesService, { strict: false }),
      webhookTests: app.get(WebhookTestService, { strict: false }),
      keyRotation: app.get(KeyRotationService, { strict: false }),
      channelConnections: app.get(ChannelConnectionsService, { strict: false }),
      contacts: app.get(ContactsService, { strict: false }),
      conversations: app.get(ConversationsService, { strict: false }),
      messages: app.get(MessagesService, { strict: false }),
      lookup: app.get(OperatorLookup),
    });
  } finally {
    await app.close();
  }
}

/** Nest would try again for seconds, for the sake of servers that start together. An operator is told at once. */
async function requireDatabase({ databaseUrl }: Config): Promise<void> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}
