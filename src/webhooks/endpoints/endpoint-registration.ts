import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { SecretBox } from '../../common/secret-box';
import { Transaction } from '../../database/transaction';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { generateEndpointSecret } from '../sending/signature';
import { EndpointUrlChecker } from './endpoint-url.checker';
import { CreateWebhookEndpoint } from './webhook-endpoint.dto';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';

const MAX_ENDPOINTS = 50;

/** What it takes for an endpoint to be registered: an address, a secret, and room for it. */
@Injectable()
export class EndpointRegistration {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly urls: EndpointUrlChecker,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Asks for the address, which takes its time: before any transaction.
   * @throws AppError INVALID_BODY: an address that is refused
   */
  async prepare(
    tenantId: string,
    { url: given, events, rateLimit }: CreateWebhookEndpoint,
  ): Promise<{ endpoint: WebhookEndpointEntity; secret: string }> {
    const url = await this.urls.check(given);
    const id = newId();
    const secret = generateEndpointSecret();
    const { keyId, ciphertext } = this.secrets.encrypt(secret, id);
    const now = new Date();
    const endpoint: WebhookEndpointEntity = {
      id,
      tenantId,
      url,
      events,
      secretKeyId: keyId,
      secretCiphertext: ciphertext,
      active: true,
      rateLimit: rateLimit ?? null,
      failingSince: null,
      lastSuccessAt: null,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    };
    return { endpoint, secret };
  }

  /** @throws AppError INVALID_BODY: a 51st endpoint; NOT_FOUND (workspace) */
  async insert(tx: Transaction, endpoint: WebhookEndpointEntity): Promise<void> {
    await this.requireRoom(tx, endpoint.tenantId);
    await this.endpoints.insert(tx, endpoint);
  }

  /** The workspace's row is locked, so that two creations at once can't both take the last place. */
  private async requireRoom(tx: Transaction, tenantId: string): Promise<void> {
    if (!(await this.workspaces.lock(tx, tenantId))) throw AppError.notFound('Workspace');
    if ((await this.endpoints.count(tx, tenantId)) < MAX_ENDPOINTS) return;
    throw new AppError('INVALID_BODY', `A workspace has at most ${MAX_ENDPOINTS} webhook endpoints.`);
  }
}
