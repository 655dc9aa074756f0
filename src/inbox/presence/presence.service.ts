import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../../access/require-permission';
import { isId } from '../../common/ids';
import { Actor, agentOf } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { AgentKey, ConversationKey } from '../../database/tables/table-declaration';
import { AgentsRepository } from '../../workspaces/agents.repository';
import { PresenceStore, Sign, TYPING_MS } from './presence-store';
import { VISITOR_ONLINE, VISITOR_TYPING } from './visitor-presence';
import {
  AGENT_ACTS,
  AgentAct,
  ConversationPresence,
  ListPresenceQuery,
  SignalPresence,
} from './presence.dto';

/** Milliseconds for which an agent's LOOKING lasts unless it is reported again. */
const LOOKING_MS = 45_000;

/** Shows agents which colleagues have a conversation open or write in it. Stores nothing in the database. */
@Injectable()
export class PresenceService {
  constructor(
    private readonly database: Database,
    private readonly store: PresenceStore,
    private readonly agents: AgentsRepository,
  ) {}

  /**
   * Records an agent's act in a conversation. LOOKING lasts 45 s, and REPLYING and NOTING 6 s, unless they
   * are reported again. While an agent writes a reply, the widget's visitor sees this with the agent's
   * display name, but no other act. An agent who writes uses the inbox, as `keepActive` records. Does nothing
   * for actors that are no agents.
   * @throws AppError INVALID_BODY, FORBIDDEN
   */
  async signal(tenantId: string, input: SignalPresence, actor: Actor): Promise<void> {
    const { conversationId, act } = validate(SignalPresence, input);
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const agentId = agentOf(actor);
    if (agentId === null || !isId(conversationId)) return;
    const signs: Sign[] = AGENT_ACTS.map((one) => [`${one} ${agentId}`, lifeOf(one, act)]);
    const conversation = { tenantId, conversationId };
    const hasChanged = await this.store.change(conversation, signs, '', agentId);
    if (act === 'REPLYING' || act === 'NOTING') await this.store.keepActive({ tenantId, agentId });
    if (act === 'REPLYING') await this.tellVisitor(conversation, agentId);
    else if (hasChanged) await this.store.tellReply(conversation, { name: null, isTyping: false });
  }

  /**
   * Lists the people in up to 100 conversations, without the actor. Leaves out conversations without people;
   * while Redis is down, the list is empty.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async list(tenantId: string, input: ListPresenceQuery, actor: Actor): Promise<ConversationPresence[]> {
    const { conversationIds } = validate(ListPresenceQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const found = await Promise.all(
      [...new Set(conversationIds)].filter(isId).map(async (conversationId) => ({
        conversationId,
        ...presenceOf(await this.store.read({ tenantId, conversationId }), agentOf(actor)),
      })),
    );
    return found.filter(({ agents, visitor }) => agents.length > 0 || visitor !== null);
  }

  /**
   * Records for two minutes that the actor uses the inbox, so that the actor gets no notice meanwhile.
   * Call it when the person moves the pointer or presses a key, and not because a page is open: an open page
   * does not tell that a person looks at it. Does nothing for actors that are no agents.
   * @throws AppError FORBIDDEN
   */
  async keepActive(tenantId: string, actor: Actor): Promise<void> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const agentId = agentOf(actor);
    if (agentId !== null) await this.store.keepActive({ tenantId, agentId });
  }

  /**
   * Reports whether an agent has used the inbox in the last two minutes; false while Redis is down.
   * @internal
   */
  isActive(agent: AgentKey): Promise<boolean> {
    return this.store.isActive(agent);
  }

  /** Records for 40 s that an agent has an inbox open, so that visitors see that agents are online. */
  keepInboxOpen(tenantId: string): Promise<void> {
    return this.store.keepInboxOpen(tenantId);
  }

  /**
   * Calls back when a person's act begins or is ended in a conversation of the workspace, but not when it
   * expires. The agent's id is empty for a visitor.
   * @returns a function that stops the calls, and a promise that settles once the calls have begun. It does
   *   not settle while Redis is down
   */
  listen(
    tenantId: string,
    callback: (conversationId: string, agentId: string) => void,
  ): { stop: () => void; listening: Promise<void> } {
    return this.store.listen(tenantId, callback);
  }

  private async tellVisitor(conversation: ConversationKey, agentId: string): Promise<void> {
    const agent = await this.agents.findActive(this.database, conversation.tenantId, agentId);
    await this.store.tellReply(conversation, { name: agent?.displayName ?? null, isTyping: true });
  }
}

function presenceOf(signs: string[], ownId: string | null): Pick<ConversationPresence, 'agents' | 'visitor'> {
  const isOnline = signs.some((sign) => sign.startsWith(`${VISITOR_ONLINE} `));
  const visitor = signs.includes(VISITOR_TYPING) ? 'TYPING' : isOnline ? 'ONLINE' : null;
  return { agents: agentsIn(signs, ownId), visitor };
}

/**
 * Returns the milliseconds that one of the agent's signs lasts after an act. An agent who writes has the sign
 * LOOKING as well, but only one of REPLYING and NOTING.
 */
function lifeOf(sign: AgentAct, act: SignalPresence['act']): number {
  if (act === 'LEFT') return 0;
  if (sign === 'LOOKING') return LOOKING_MS;
  return sign === act ? TYPING_MS : 0;
}

function agentsIn(signs: string[], ownId: string | null): ConversationPresence['agents'] {
  const acts = new Map<string, AgentAct>();
  // The map keeps the last act that is set for an agent, so the act to show must be set last.
  for (const act of AGENT_ACTS.toReversed())
    for (const sign of signs) if (sign.startsWith(`${act} `)) acts.set(sign.slice(act.length + 1), act);
  if (ownId !== null) acts.delete(ownId);
  return [...acts].map(([agentId, act]) => ({ agentId, act })).sort(byId);
}

function byId(one: { agentId: string }, other: { agentId: string }): number {
  return one.agentId < other.agentId ? -1 : 1;
}
