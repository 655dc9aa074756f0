import { createContext, useContext } from 'react';
import type { Agent } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { useTexts } from '../../i18n/locale';
import type { AgentOption } from './agent-field';

const REFRESH_MS = 60_000;

const NO_AGENTS: Agent[] = [];

const AgentsContext = createContext(NO_AGENTS);
/** Provides the workspace's agents to the inbox, which reads them once for all messages and rows. */
export const AgentsProvider = AgentsContext;

export function useReadAgents(): Agent[] {
  return useRead<{ data: Agent[] }>('agents', {}, { refreshMs: REFRESH_MS }).data?.data ?? NO_AGENTS;
}

export function useAgents(): Agent[] {
  return useContext(AgentsContext);
}

export function useColleagueOptions(): AgentOption[] {
  const { inbox } = useTexts();
  const { agentId } = useWorkspace();
  return useAgents()
    .filter(({ id, active }) => active && id !== agentId)
    .map(({ id, name, isBot }) => ({ value: id, label: isBot ? inbox.withBot(name) : name }));
}

/** Returns a function that returns an agent's name, or "you" for the person's own id. */
export function useAgentName(): (id: string) => string {
  const texts = useTexts();
  const { agentId } = useWorkspace();
  const agents = useAgents();
  return (id) => {
    if (id === agentId) return texts.inbox.you;
    const agent = agents.find((one) => one.id === id);
    if (!agent) return texts.inbox.unknownAgent;
    return agent.isErased ? texts.agents.erasedName : agent.name;
  };
}
