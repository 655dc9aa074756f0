import { Injectable } from '@nestjs/common';
import { Actor } from './principal';
import { Transaction } from '../database/transaction';

/** Revocation of an API key. The webhook endpoints that the key has made end, or pass to another key. */
export interface KeyRevocation {
  tenantId: string;
  keyId: string;
  /** Id of the working key of the workspace to which the endpoints pass; null if they end. */
  replacedBy: string | null;
  actor: Actor;
}

/** Webhook endpoint that a revoked key had made, or whose URL or secret it had set last. */
export interface EndpointOfKey {
  id: string;
  name: string | null;
  url: string;
  /**
   * Effect of the revocation. `INACTIVE`: none, because the endpoint was inactive. `UNCHANGED`: none, because
   * the key had only rolled the endpoint's secret.
   */
  outcome: 'DEACTIVATED' | 'INACTIVE' | 'HANDED_OVER' | 'UNCHANGED';
  /** Whether the key received the endpoint's present secret, which allows anyone to forge webhooks. */
  knewSecret: boolean;
}

type Effect = (tx: Transaction, revocation: KeyRevocation) => Promise<EndpointOfKey[]>;

/** Applies the revocations of keys to the webhook endpoints of these keys, in the same transaction. */
@Injectable()
export class KeyRevocations {
  private effect: Effect | null = null;

  /** Registers the effect of a revocation, which `WebhooksModule` provides. */
  register(effect: Effect): void {
    this.effect = effect;
  }

  apply(tx: Transaction, revocation: KeyRevocation): Promise<EndpointOfKey[]> {
    if (!this.effect) throw new Error('Nothing ends what a revoked key has made: import WebhooksModule.');
    return this.effect(tx, revocation);
  }
}
