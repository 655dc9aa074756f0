import { Permission } from '../../../../src/common/permissions';
import { Actor } from '../../../../src/common/principal';
import { Subscription } from '../../../support/webhook-workspace';

/** An entry as it must be. What is left out is null, or `{}` for the metadata. */
export interface Expected {
  /** When it is not the subject's. */
  tenantId?: string;
  entity: string;
  entityId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

export type Act = () => Promise<Expected>;

export interface Scenario {
  /** The method of a service that makes the change. */
  method: string;
  /** What it requires of agents and keys; null where only the service itself calls it, or only for all workspaces. */
  permission: Permission | null;
  /** Whether only the system does it. */
  isAutomatic?: boolean;
  /** Whether the subject's agent does it to the own login, and nobody else. */
  isPersonal?: boolean;
  /** Prepares what must be there before, and returns what is done then, which returns the entry that must follow. */
  prepare: (subject: Subscription, actor: Actor) => Act | Promise<Act>;
}
