import { Injectable, Module } from '@nestjs/common';
import {
  type Actor,
  ApiKeysService,
  MessagingModule,
  WebhookEndpointsService,
} from 'conversation-messaging-service';

@Injectable()
export class IntegrationSettings {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly endpoints: WebhookEndpointsService,
  ) {}

  /** Show `key` now: only its hash is kept. */
  async createKey(workspaceId: string, agentId: string) {
    const actor: Actor = { type: 'agent', id: agentId };
    const { id, key } = await this.apiKeys.create(
      workspaceId,
      { name: 'CRM', scopes: ['conversations:read', 'messages:write'] },
      actor,
    );
    return { id, key };
  }

  /** Show `secret` now: it can't be read again. */
  async createEndpoint(workspaceId: string, agentId: string, url: string) {
    const actor: Actor = { type: 'agent', id: agentId };
    const { id, secret } = await this.endpoints.create(workspaceId, { url, events: ['*'] }, actor);
    return { id, secret };
  }
}

@Module({
  imports: [
    MessagingModule.forRootAsync({
      // The same values as the service's own processes have.
      useFactory: () => ({
        databaseUrl: process.env.DATABASE_URL!,
        redisUrl: process.env.REDIS_URL!,
        secretsKeys: process.env.SECRETS_KEYS!,
      }),
    }),
  ],
  providers: [IntegrationSettings],
  exports: [IntegrationSettings],
})
export class DashboardModule {}
