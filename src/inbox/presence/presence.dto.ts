import { IsIn, IsString } from 'class-validator';
import { IsIdList } from '../../common/validators';

/** Acts of an agent in a conversation. If an agent does several, only the first in this list is shown. */
export const AGENT_ACTS = ['REPLYING', 'NOTING', 'LOOKING'] as const;
export type AgentAct = (typeof AGENT_ACTS)[number];

/** Maximum number of conversations in one query. An inbox shows fewer. */
export const MAX_ASKED = 100;

export class SignalPresence {
  @IsString()
  conversationId: string;

  /** Act of the agent in the conversation; LEFT ends all acts at once. */
  @IsIn([...AGENT_ACTS, 'LEFT'])
  act: AgentAct | 'LEFT';
}

export class ListPresenceQuery {
  /** Ids of conversations; in a query string one text, separated by commas. */
  @IsIdList(MAX_ASKED)
  conversationIds: string[];
}

export interface ConversationPresence {
  conversationId: string;
  /** Other agents who have the conversation open, without the agent who asks. Each is listed once. */
  agents: { agentId: string; act: AgentAct }[];
  /** Whether the widget's visitor has a page open or types; null if neither, and on other channels. */
  visitor: 'ONLINE' | 'TYPING' | null;
}
