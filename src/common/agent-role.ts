/** What an agent is in its workspace. `src/common/permissions.ts` says what each may do. */
export const AGENT_ROLES = ['OWNER', 'ADMIN', 'AGENT'] as const;
export type AgentRole = (typeof AGENT_ROLES)[number];
