import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../redis/redis-client';
import { RedisSubscriber } from '../../redis/redis-subscriber';
import { AgentKey, ConversationKey } from '../../database/tables/table-declaration';

/** Milliseconds without a change after which a conversation's key expires. No sign lasts as long. */
const KEY_MS = 60_000;
/** Maximum number of signs of a conversation. Further agents are not shown. */
const MAX_SIGNS = 60;

/** Lua that sets `now` to the present time in milliseconds by Redis's clock. */
const NOW = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Lua script that sets or ends the signs in ARGV[2…], pairs of name and milliseconds. Does nothing if ARGV[1]
 * names a sign that is missing. Returns the number of signs that began or ended.
 */
const CHANGE = `${NOW}
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if ARGV[1] ~= '' and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
  local changed = 0
  for i = 2, #ARGV, 2 do
    local ms = tonumber(ARGV[i + 1])
    if ms == 0 then
      changed = changed + redis.call('ZREM', KEYS[1], ARGV[i])
    elseif redis.call('ZSCORE', KEYS[1], ARGV[i]) or redis.call('ZCARD', KEYS[1]) < ${MAX_SIGNS} then
      changed = changed + redis.call('ZADD', KEYS[1], now + ms, ARGV[i])
    end
  end
  redis.call('PEXPIRE', KEYS[1], ${KEY_MS})
  return changed`;

const READ = `${NOW}
  return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')`;

const KEEP = `redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`;
const EXISTS = `return redis.call('EXISTS', KEYS[1])`;

/** Milliseconds for which an inbox counts as open after its last report. An open inbox reports every 15 s. */
const INBOX_MS = 40_000;

/** Milliseconds for which an agent counts as using the inbox after the last sign of it. */
const ACTIVE_MS = 120_000;

export const TYPING_MS = 6_000;

export interface Reply {
  /** Name by which customers know the agent; null if they see none. */
  name: string | null;
  isTyping: boolean;
}

/** Sign that a person is there: a name, such as `LOOKING 019a…`, and its milliseconds to live; 0 ends it. */
export type Sign = [name: string, ms: number];

/**
 * Stores signs of people's presence in conversations, only in Redis. Each conversation has a sorted set whose
 * members expire. While Redis is down, no signs are found, and no call fails.
 */
@Injectable()
export class PresenceStore {
  private readonly changeSigns: (key: string, ...values: (string | number)[]) => Promise<number>;
  private readonly readSigns: (key: string) => Promise<string[]>;

  private readonly keepKey: (key: string, ms: number) => Promise<null>;
  private readonly existsKey: (key: string) => Promise<number>;

  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {
    this.changeSigns = redis.script('changePresence', CHANGE);
    this.readSigns = redis.script('readPresence', READ);
    this.keepKey = redis.script('keepPresence', KEEP);
    this.existsKey = redis.script('existsPresence', EXISTS);
  }

  /**
   * Sets and ends signs of a conversation. Notifies the listeners if a sign began or ended.
   * @param required name of a sign that the conversation must have; otherwise nothing changes
   * @param agentId agent whose signs they are; empty for a visitor's signs
   */
  async change(conversation: ConversationKey, signs: Sign[], required = '', agentId = ''): Promise<boolean> {
    return this.unlessDown(false, async () => {
      const changed = await this.changeSigns(keyOf(conversation), required, ...signs.flat());
      if (changed > 0)
        await this.redis.publish(
          channelOf(conversation.tenantId),
          `${conversation.conversationId} ${agentId}`,
        );
      return changed > 0;
    });
  }

  read(conversation: ConversationKey): Promise<string[]> {
    return this.unlessDown([], () => this.readSigns(keyOf(conversation)));
  }

  /**
   * Calls back when a sign begins or is ended in a conversation of a workspace. The agent's id is empty for a
   * visitor's sign.
   * @returns a function that stops the calls, and a promise that settles once the calls have begun
   */
  listen(
    tenantId: string,
    callback: (conversationId: string, agentId: string) => void,
  ): { stop: () => void; listening: Promise<void> } {
    const channel = channelOf(tenantId);
    const handler = (message: string) => {
      const [conversationId = '', agentId = ''] = message.split(' ');
      callback(conversationId, agentId);
    };
    const listening = this.subscriber.subscribe(channel, handler);
    return { stop: () => this.subscriber.unsubscribe(channel, handler), listening };
  }

  /** Notifies the conversation's customer, if connected, that an agent types or has stopped. */
  async tellReply(conversation: ConversationKey, reply: Reply): Promise<void> {
    const publish = () => this.redis.publish(replyChannelOf(conversation), JSON.stringify(reply));
    await this.unlessDown(undefined, publish);
  }

  /**
   * Calls back when an agent types to the customer of a conversation, or has stopped.
   * @returns a function that stops the calls
   */
  listenToReplies(conversation: ConversationKey, callback: (reply: Reply) => void): () => void {
    const channel = replyChannelOf(conversation);
    const handler = (message: string) => callback(JSON.parse(message) as Reply);
    void this.subscriber.subscribe(channel, handler);
    return () => this.subscriber.unsubscribe(channel, handler);
  }

  /** Records for 40 s that an agent of a workspace has an inbox open. */
  async keepInboxOpen(tenantId: string): Promise<void> {
    await this.unlessDown(null, () => this.keepKey(inboxKeyOf(tenantId), INBOX_MS));
  }

  /** Reports whether an agent of a workspace has had an inbox open in the last 40 s. */
  async isInboxOpen(tenantId: string): Promise<boolean> {
    return (await this.unlessDown(0, () => this.existsKey(inboxKeyOf(tenantId)))) === 1;
  }

  /** Records for two minutes that an agent uses the inbox. */
  async keepActive(agent: AgentKey): Promise<void> {
    await this.unlessDown(null, () => this.keepKey(activeKeyOf(agent), ACTIVE_MS));
  }

  /** Reports whether an agent has used the inbox in the last two minutes. */
  async isActive(agent: AgentKey): Promise<boolean> {
    return (await this.unlessDown(0, () => this.existsKey(activeKeyOf(agent)))) === 1;
  }

  private async unlessDown<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch {
      // RedisClient has logged the error.
      return otherwise;
    }
  }
}

function keyOf({ tenantId, conversationId }: ConversationKey): string {
  return `presence:${tenantId}:${conversationId}`;
}

function inboxKeyOf(tenantId: string): string {
  return `presence-inbox:${tenantId}`;
}

function activeKeyOf({ tenantId, agentId }: AgentKey): string {
  return `presence-active:${tenantId}:${agentId}`;
}

function replyChannelOf({ tenantId, conversationId }: ConversationKey): string {
  return `presence-reply:${tenantId}:${conversationId}`;
}

function channelOf(tenantId: string): string {
  return `presence:${tenantId}`;
}
