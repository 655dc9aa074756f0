import { createContext, useContext } from 'react';
import type { ActiveConversation, Agent, Channel } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { shortId } from '../../common/short-id';
import { useTexts } from '../../i18n/locale';

const REFRESH_MS = 60_000;

const NO_AGENTS: Agent[] = [];

const AgentsContext = createContext(NO_AGENTS);
/** Gives the agents to a page, which reads them once for all messages and rows that name one. */
export const AgentsProvider = AgentsContext;

export function useReadAgents(): Agent[] {
  return useRead<{ data: Agent[] }>('agents', {}, { refreshMs: REFRESH_MS }).data?.data ?? NO_AGENTS;
}

export function useAgents(): Agent[] {
  return useContext(AgentsContext);
}

/** Returns a function that names an agent; the person themself is "you". */
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

/** Matches a character that leaves a mark on the screen: some letters and symbols do not. */
const VISIBLE = /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Reports whether something of a name is to be seen. */
export function isVisible(name: string | null): name is string {
  return name !== null && VISIBLE.test(name);
}

/** Returns a contact's name, or else its channel with the end of its id. */
export function contactName(channel: Channel, { id, name }: ActiveConversation['contact']): string {
  return isVisible(name) ? name.trim() : `${CHANNEL_LABELS[channel]} ${shortId(id)}`;
}
