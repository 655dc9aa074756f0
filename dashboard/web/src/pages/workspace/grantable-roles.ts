import type { AgentRole } from '../../api/types';
import { useWorkspace } from '../../api/workspace';

const ROLES: AgentRole[] = ['AGENT', 'ADMIN', 'OWNER'];

/** Returns the roles that the person may give to agents. Only an owner may make others owners. */
export function useGrantableRoles(): AgentRole[] {
  const { role } = useWorkspace();
  return role === 'OWNER' ? ROLES : ROLES.filter((one) => one !== 'OWNER');
}
