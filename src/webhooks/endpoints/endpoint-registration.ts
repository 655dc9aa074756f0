import { Injectable } from '@nestjs/common';
import { isIP } from 'node:net';
import { AppError } from '../../common/app-error';
import { Fault } from '../../common/error-texts';
import { newId } from '../../common/ids';
import { Actor } from '../../access/principal';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { SealedSecret, SecretBox } from '../../secrets/secret-box';
import { Transaction } from '../../database/transaction';
import { ContextPart } from '../context/context-parts';
import { AddressPolicy, AddressRefused, EndpointUrlRefused } from '../../outgoing/address-policy';
import { concealHost } from '../sending/host-faults';
import { DnsFailure, HostResolver } from '../../outgoing/host-resolver';
import { generateEndpointSecret } from '../sending/signature';
import { CreateWebhookEndpoint } from './webhook-endpoint-input.dto';
import { EndpointChanges } from './endpoint-changes';
import { WebhookEndpoint } from './webhook-endpoint';
import { NewEndpoint, WebhookEndpointsRepository } from './webhook-endpoints.repository';

const MAX_ENDPOINTS = 50;
/** Largest number of a workspace's endpoints with a row. A deleted endpoint keeps its row for a time. */
const MAX_KEPT_ENDPOINTS = 1_000;

@Injectable()
export class EndpointRegistration {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly changes: EndpointChanges,
    private readonly secrets: SecretBox,
    private readonly policy: AddressPolicy,
    private readonly resolver: HostResolver,
    private readonly budgets: WorkBudgets,
  ) {}

  /**
   * Checks the input, and makes an endpoint's row and secret. It resolves the URL's host name, which may take
   * seconds: call it outside of a transaction.
   * @throws AppError INVALID_BODY: a refused URL
   */
  async makeEndpoint(
    tenantId: string,
    { url: given, events, rateLimit, name, description, automaticRecovery }: CreateWebhookEndpoint,
    context: ContextPart[] | null,
    maker: Actor,
  ): Promise<{ endpoint: NewEndpoint; secret: string }> {
    const url = await this.checkUrl(tenantId, given, maker);
    const id = newId();
    const { secret, sealed } = this.makeSecret(id);
    const texts = { name: name ?? null, description: description ?? null };
    const recoversSince = automaticRecovery ? new Date() : null;
    const settings = { url, events, context, rateLimit: rateLimit ?? null, recoversSince, ...texts };
    return { endpoint: { tenantId, id, ...settings, sealed, maker }, secret };
  }

  /**
   * Checks the URL of an endpoint. Each delivery checks the URL again, because a host name can get other
   * addresses.
   * @param actor if it is an API key, the error tells of a refused name only that it has no public address
   * @returns the URL, normalised
   * @throws AppError INVALID_BODY: not https, not public, or not resolved; RATE_LIMITED, UNAVAILABLE: too
   *   many look-ups at once
   */
  async checkUrl(tenantId: string, input: string, actor: Actor): Promise<string> {
    try {
      const { hostname, href } = this.policy.parseEndpointUrl(input);
      const isLiteral = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
      if (!isLiteral) this.policy.vet(hostname, await this.resolve(tenantId, hostname));
      return href;
    } catch (error) {
      const isRefusal =
        error instanceof EndpointUrlRefused || error instanceof AddressRefused || error instanceof DnsFailure;
      if (!isRefusal) throw error;
      throw urlRefused(actor.type === 'api_key' ? concealHost(error.fault) : error.fault);
    }
  }

  private async resolve(tenantId: string, hostname: string): Promise<string[]> {
    const resolve = () => this.resolver.resolve(hostname);
    const addresses = await this.budgets.waitOutside('lookups', tenantId, resolve);
    await this.budgets.reacquireSlot();
    return addresses;
  }

  makeSecret(endpointId: string): { secret: string; sealed: SealedSecret } {
    const secret = generateEndpointSecret();
    return { secret, sealed: this.secrets.encrypt(secret, endpointId) };
  }

  /**
   * Inserts a prepared endpoint. The transaction must hold the lock on the workspace's row, so that two
   * concurrent creations can't exceed the limit.
   * @throws AppError INVALID_BODY: a 51st endpoint, or too many that were deleted lately
   */
  async insert(tx: Transaction, endpoint: NewEndpoint): Promise<WebhookEndpoint> {
    const { present, kept } = await this.endpoints.count(tx, endpoint.tenantId);
    if (present >= MAX_ENDPOINTS)
      throw AppError.because('INVALID_BODY', 'too_many_endpoints', { max: MAX_ENDPOINTS });
    if (kept >= MAX_KEPT_ENDPOINTS)
      throw AppError.because('INVALID_BODY', 'too_many_deleted_endpoints', { max: MAX_KEPT_ENDPOINTS });
    return this.changes.insert(tx, endpoint);
  }
}

function urlRefused(fault: Fault): AppError {
  const message = `is refused: ${fault.message}`;
  return new AppError('INVALID_BODY', `url ${message}.`, [{ field: 'url', ...fault, message }]);
}
