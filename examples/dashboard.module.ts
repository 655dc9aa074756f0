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

  /** Creates an API key. Show its `key` now: only its hash is stored. */
  async createKey(workspaceId: string, agentId: string) {
    const actor: Actor = { type: 'agent', id: agentId };
    const { id, key } = await this.apiKeys.create(
      workspaceId,
      { name: 'CRM', scopes: ['conversations:read', 'messages:write'] },
      actor,
    );
    return { id, key };
  }

  /** Creates an endpoint. Show its `secret` now: it can't be read again. */
  async createEndpoint(workspaceId: string, agentId: string, url: string) {
    const actor: Actor = { type: 'agent', id: agentId };
    const { id, secret } = await this.endpoints.create(workspaceId, { url, events: ['*'] }, actor);
    return { id, secret };
  }
}

@Module({
  imports: [
    MessagingModule.forRootAsync({
      // These values are the same as those of the service's own processes.
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
