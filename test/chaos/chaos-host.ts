import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/common/app-error';
import { SYSTEM } from '../../src/access/principal';
import { MessagingModule } from '../../src/app/messaging.module';
import { CreateWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint-input.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { Fixtures } from '../support/fixtures';

const NO_RATE_LIMIT = 1_000_000;
const RETRY_MS = 250;
const GIVE_UP_MS = 60_000;

/** A conversation for the clients, and their API key. */
export interface Conversation {
  id: string;
  workspaceId: string;
  apiKey: string;
}

type EndpointInput = Omit<CreateWebhookEndpoint, 'events'>;

/**
 * Does what a dashboard does, through the services that other backends import. It retries while the stores
 * are down.
 */
export class ChaosHost {
  private constructor(private readonly app: INestApplicationContext) {}

  static async open(options: Parameters<typeof MessagingModule.forRoot>[0]): Promise<ChaosHost> {
    const app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), {
      logger: false,
      abortOnError: false,
    });
    return new ChaosHost(app);
  }

  close(): Promise<void> {
    return this.app.close();
  }

  /** Makes a workspace with conversations. */
  makeConversations(count: number): Promise<Conversation[]> {
    return persist(async () => {
      const make = new Fixtures(this.app);
      const workspace = await make.workspace({ rateLimit: NO_RATE_LIMIT });
      await make.agent(workspace);
      const { key: apiKey } = await make.apiKey(workspace);
      const conversations: Conversation[] = [];
      while (conversations.length < count) {
        const { id } = await make.conversation(workspace);
        conversations.push({ id, workspaceId: workspace.id, apiKey });
      }
      return conversations;
    });
  }

  /**
   * Registers an endpoint for messages. After a failure it checks whether the endpoint was created all the
   * same: an endpoint that exists twice would get everything twice.
   * @returns its id
   */
  createEndpoint(workspaceId: string, input: EndpointInput): Promise<string> {
    return persist(async () => {
      const known = (await this.endpoints.list(workspaceId, SYSTEM)).find(({ url }) => url === input.url);
      if (known) return known.id;
      const { id } = await this.endpoints.create(
        workspaceId,
        { ...input, events: ['message.created'] },
        SYSTEM,
      );
      return id;
    });
  }

  activate(workspaceId: string, id: string): Promise<unknown> {
    return persist(() => this.endpoints.activate(workspaceId, id, SYSTEM));
  }

  deactivate(workspaceId: string, id: string): Promise<unknown> {
    return persist(() => this.endpoints.deactivate(workspaceId, id, SYSTEM));
  }

  delete(workspaceId: string, id: string): Promise<void> {
    return persist(async () => {
      try {
        await this.endpoints.delete(workspaceId, id, SYSTEM);
      } catch (error) {
        // After an unanswered try the endpoint may be deleted already.
        if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
      }
    });
  }

  /** Starts a recovery of what an endpoint missed since a time. */
  recover(workspaceId: string, id: string, since: Date): Promise<void> {
    return persist(async () => {
      try {
        await this.recoveries.recoverMissed(workspaceId, id, { since }, SYSTEM);
      } catch (error) {
        // After an unanswered try the recovery may run already.
        if (!(error instanceof AppError && /already/.test(error.message))) throw error;
      }
    });
  }

  private get endpoints(): WebhookEndpointsService {
    return this.app.get(WebhookEndpointsService, { strict: false });
  }

  private get recoveries(): WebhookRecoveriesService {
    return this.app.get(WebhookRecoveriesService, { strict: false });
  }
}

/** Repeats an act until it succeeds, or fails for another reason than a fault of the database. */
async function persist<T>(act: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isRefused = error instanceof AppError && error.code !== 'UNAVAILABLE';
      if (isRefused || Date.now() > deadline) throw error;
    }
    await sleep(RETRY_MS);
  }
}
