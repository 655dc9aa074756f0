import { Injectable } from '@nestjs/common';
import { Actor } from './principal';
import { Transaction } from '../database/transaction';

/** Revocation of a key, which also ends or hands over the things that the key has made. */
export interface KeyRevocation {
  tenantId: string;
  keyId: string;
  /**
   * Working key of the workspace that takes over the things that the key has made; null if they are to end.
   */
  replacedBy: string | null;
  actor: Actor;
}

/** Webhook endpoint that a revoked key had made, or whose URL or secret it had set last. */
export interface EndpointOfKey {
  id: string;
  name: string | null;
  url: string;
  /**
   * Effect of the revocation. `INACTIVE`: none, because it sent nothing any more. `UNCHANGED`: none, because
   * the key had only rolled its secret.
   */
  outcome: 'DEACTIVATED' | 'INACTIVE' | 'HANDED_OVER' | 'UNCHANGED';
  /** Whether the key was given the endpoint's present secret: whoever has it can sign as the service does. */
  knewSecret: boolean;
}

type Effect = (tx: Transaction, revocation: KeyRevocation) => Promise<EndpointOfKey[]>;

/** Ends or hands over the things that revoked keys have made, in the transaction of the revocation. */
@Injectable()
export class KeyRevocations {
  private effect: Effect | null = null;

  /** Registers the effect of a revocation on the webhook endpoints of the key. */
  register(effect: Effect): void {
    this.effect = effect;
  }

  /** Returns the endpoints of the key, each with the revocation's effect on it. */
  apply(tx: Transaction, revocation: KeyRevocation): Promise<EndpointOfKey[]> {
    if (!this.effect) throw new Error('Nothing ends what a revoked key has made: import WebhooksModule.');
    return this.effect(tx, revocation);
  }
}
