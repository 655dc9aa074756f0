import { Permission } from '../../../src/access/permissions';
import { Actor } from '../../../src/access/principal';
import { Subscription } from '../../support/webhook-workspace';

/** An audit entry as it must be. A field that is left out is null, or `{}` for the metadata. */
export interface Expected {
  /** Workspace of the entry, if it is not the subject's. */
  tenantId?: string;
  entity: string;
  entityId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

export type Act = () => Promise<Expected>;

export interface Scenario {
  /** Method of an exported service that makes the change; null if only the service itself calls it. */
  method: string | null;
  /**
   * Permission that the method requires of agents and keys; null where only the service itself calls it, or
   * only for all workspaces.
   */
  permission: Permission | null;
  /** True if only the system makes the change. */
  isAutomatic?: boolean;
  /** True if only the subject's agent makes the change. */
  isPersonal?: boolean;
  /** Prepares what must exist before. Returns the act, which returns the entry that must follow. */
  prepare: (subject: Subscription, actor: Actor) => Act | Promise<Act>;
}
