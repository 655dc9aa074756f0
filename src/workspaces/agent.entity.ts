import { AgentRole } from '../access/permissions';

/** A person or bot that answers a workspace's customers. */
export interface AgentEntity {
  tenantId: string;
  id: string;
  name: string;
  /** Name that customers see; null if they see none. */
  displayName: string | null;
  email: string;
  role: AgentRole;
  isBot: boolean;
  active: boolean;
  /** Time at which name, display name and e-mail address were erased; null while they are there. */
  erasedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
