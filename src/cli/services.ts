import { DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AlertsService } from '../alerts/alerts.service';
import { FileCheck } from '../attachments/files/file-check';
import { AuditService } from '../audit/audit.service';
import { ApiKeysService } from '../auth/api-keys.service';
import { ChannelConnectionsService } from '../channels/connections/channel-connections.service';
import { Config } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { AppError } from '../common/app-error';
import { ContactsService } from '../contacts/contacts.service';
import { ConversationsService } from '../conversations/conversations.service';
import { DatabaseClient } from '../database/driver/database-client';
import { DatabaseClock } from '../database/database-clock';
import { DatabaseHosts } from '../database/driver/database-hosts';
import { DatabasePool } from '../database/driver/database-pool';
import { AgentErasuresService } from '../logins/agent-erasures.service';
import { InvitationsService } from '../logins/invitations/invitations.service';
import { OperatorLoginsService } from '../logins/operator-logins.service';
import { SecondFactorDemandsService } from '../logins/second-factor/second-factor-demands.service';
import { MessagesService } from '../messages/messages.service';
import { WorkspaceUsageRepository } from '../operations/metrics/workspace-usage.repository';
import { MessagingModule } from '../app/messaging.module';
import { ParkedEventsService } from '../operations/parked-events/parked-events.service';
import { ContactArchiveService } from '../privacy/contact-archive.service';
import { ContactErasuresService } from '../privacy/contact-erasures.service';
import { ContactExportService } from '../privacy/contact-export.service';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { EndpointStatisticsService } from '../webhooks/rollups/endpoint-statistics.service';
import { WebhookDeliveriesService } from '../webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service';
import { AutomaticRecoveriesService } from '../webhooks/recoveries/automatic-recoveries.service';
import { WebhookRecoveriesService } from '../webhooks/recoveries/webhook-recoveries.service';
import { WebhookTestService } from '../webhooks/testing/webhook-test.service';
import { AgentsService } from '../workspaces/agents.service';
import { WorkspacesService } from '../workspaces/workspaces.service';
import { OperatorLookup } from './operator-lookup';

const CONNECT_TIMEOUT_MS = 3_000;

const SERVICES = {
  workspaces: WorkspacesService,
  agents: AgentsService,
  invitations: InvitationsService,
  agentErasures: AgentErasuresService,
  operatorLogins: OperatorLoginsService,
  secondFactorDemands: SecondFactorDemandsService,
  apiKeys: ApiKeysService,
  webhookEndpoints: WebhookEndpointsService,
  webhookDeliveries: WebhookDeliveriesService,
  endpointStatistics: EndpointStatisticsService,
  webhookRecoveries: WebhookRecoveriesService,
  automaticRecoveries: AutomaticRecoveriesService,
  webhookTests: WebhookTestService,
  keyRotation: KeyRotationService,
  channelConnections: ChannelConnectionsService,
  contacts: ContactsService,
  contactErasures: ContactErasuresService,
  contactExports: ContactExportService,
  contactArchives: ContactArchiveService,
  conversations: ConversationsService,
  messages: MessagesService,
  parkedEvents: ParkedEventsService,
  fileChecks: FileCheck,
  alerts: AlertsService,
  audit: AuditService,
  lookup: OperatorLookup,
};

export type Services = { [Name in keyof typeof SERVICES]: InstanceType<(typeof SERVICES)[Name]> };

@Module({})
class OperatorModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: OperatorModule,
      imports: [MessagingModule.forConfig(ConfigModule.forRoot(config))],
      providers: [WorkspaceUsageRepository, OperatorLookup],
    };
  }
}

/** Starts `MessagingModule`, calls `work` with its services, and closes the module. */
export async function useServices(work: (services: Services) => Promise<void>): Promise<void> {
  const config = Config.from();
  await requireDatabase(config);
  const app = await NestFactory.createApplicationContext(OperatorModule.forRoot(config), {
    logger: false,
    abortOnError: false,
  });
  try {
    if (!app.get(DatabaseClock, { strict: false }).isTrusted)
      throw new AppError('UNAVAILABLE', "The clock of this machine is more than 2 s from the database's.");
    const services = Object.entries(SERVICES).map(([name, type]) => [
      name,
      app.get<unknown>(type, { strict: false }),
    ]);
    await work(Object.fromEntries(services) as Services);
  } finally {
    await app.close();
  }
}

/** Fails at once if the database can't be reached, because Nest would retry for seconds. */
async function requireDatabase({ databaseUrl }: Config): Promise<void> {
  const pool = new DatabasePool({
    hosts: new DatabaseHosts(databaseUrl),
    Client: DatabaseClient,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  try {
    (await pool.connect()).release();
  } finally {
    await pool.end();
  }
}
