import { AgentRole } from '../access/permissions';

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
  /** Time at which names and e-mail address were erased; null if they were not. */
  erasedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
