import { Injectable } from '@nestjs/common';
import { Actor } from './principal';
import { Transaction } from '../database/transaction';

/** Revocation of an API key. Webhook endpoints that the key made are deactivated or get another key. */
export interface KeyRevocation {
  tenantId: string;
  keyId: string;
  /** Id of the working key that takes the endpoints over; null if the endpoints are deactivated. */
  replacedBy: string | null;
  actor: Actor;
}

/** Webhook endpoint that a revoked key had made, or whose URL or secret the key had set last. */
export interface EndpointOfKey {
  id: string;
  name: string | null;
  url: string;
  /**
   * Effect of the revocation on the endpoint. `INACTIVE`: none, because the endpoint was inactive before.
   * `UNCHANGED`: none, because the key had only rolled the endpoint's secret.
   */
  outcome: 'DEACTIVATED' | 'INACTIVE' | 'HANDED_OVER' | 'UNCHANGED';
  /** Whether the key was sent the endpoint's present secret, so that its holder can forge webhooks. */
  knewSecret: boolean;
}

type Effect = (tx: Transaction, revocation: KeyRevocation) => Promise<EndpointOfKey[]>;

/** Passes each revocation of a key to the function that changes the webhook endpoints of this key. */
@Injectable()
export class KeyRevocations {
  private effect: Effect | null = null;

  /** Registers the function that changes the webhook endpoints. `WebhooksModule` provides it. */
  register(effect: Effect): void {
    this.effect = effect;
  }

  apply(tx: Transaction, revocation: KeyRevocation): Promise<EndpointOfKey[]> {
    if (!this.effect) throw new Error('Nothing ends what a revoked key has made: import WebhooksModule.');
    return this.effect(tx, revocation);
  }
}
