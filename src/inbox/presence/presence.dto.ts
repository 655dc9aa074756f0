import { IsIn, IsString } from 'class-validator';
import { IsIdList } from '../../common/validators';

/** Acts of an agent in a conversation, of which the strongest is shown. */
export const AGENT_ACTS = ['REPLYING', 'NOTING', 'LOOKING'] as const;
export type AgentAct = (typeof AGENT_ACTS)[number];

/** Limit of the conversations that one call asks about: more rows than a screen has. */
export const MAX_ASKED = 100;

export class SignalPresence {
  @IsString()
  conversationId: string;

  /** Act of the agent there; LEFT ends it at once. */
  @IsIn([...AGENT_ACTS, 'LEFT'])
  act: AgentAct | 'LEFT';
}

export class ListPresenceQuery {
  /** Ids; in a query one text, with commas between them. */
  @IsIdList(MAX_ASKED)
  conversationIds: string[];
}

/** People who are in a conversation at the moment. */
export interface ConversationPresence {
  conversationId: string;
  /** Colleagues of the agent who asks, each once. */
  agents: { agentId: string; act: AgentAct }[];
  /** Whether the widget's visitor has a page open, or types; null if neither, and on other channels. */
  visitor: 'ONLINE' | 'TYPING' | null;
}
