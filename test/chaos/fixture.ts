import { NestFactory } from '@nestjs/core';
import { MessagingModule } from '../../src/messaging.module';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { SYSTEM } from '../../src/common/principal';
import { Fixtures } from '../support/fixtures';
import { Receiver } from './receivers';

const WORKSPACES = 2;
const CONVERSATIONS = 3;
const NO_RATE_LIMIT = 1_000_000;

/** A conversation for the clients, and their API key. */
export interface Conversation {
  id: string;
  workspaceId: string;
  apiKey: string;
}

/** Makes workspaces with every receiver as an endpoint, through the services that other backends import. */
export async function makeConversations(
  options: Parameters<typeof MessagingModule.forRoot>[0],
  receivers: readonly Receiver[],
): Promise<Conversation[]> {
  const app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), {
    logger: false,
    abortOnError: false,
  });
  const make = new Fixtures(app);
  const conversations: Conversation[] = [];
  try {
    for (let made = 0; made < WORKSPACES; made += 1) {
      const workspace = await make.workspace({ rateLimit: NO_RATE_LIMIT });
      await make.agent(workspace);
      const { key } = await make.apiKey(workspace);
      const endpoints = app.get(WebhookEndpointsService, { strict: false });
      for (const { url } of receivers)
        await endpoints.create(workspace.id, { url, events: ['message.created'] }, SYSTEM);
      for (let index = 0; index < CONVERSATIONS; index += 1) {
        const { id } = await make.conversation(workspace);
        conversations.push({ id, workspaceId: workspace.id, apiKey: key });
      }
    }
  } finally {
    await app.close();
  }
  return conversations;
}
