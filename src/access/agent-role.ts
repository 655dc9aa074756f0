/** Roles of agents in their workspace. `src/access/permissions.ts` says what each role may do. */
export const AGENT_ROLES = ['OWNER', 'ADMIN', 'AGENT'] as const;
export type AgentRole = (typeof AGENT_ROLES)[number];
