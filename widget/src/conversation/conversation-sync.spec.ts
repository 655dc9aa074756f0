import { ServiceError } from '../protocol/service-client';
import type { Message, MessagePage, Position } from '../protocol/types';
import { ConversationSync } from './conversation-sync';
import { Timeline } from './timeline';

/** A conversation as the service stores it: each message is one event. */
class Conversation {
  messages: Message[] = [];
  reads = 0;
  isDown = false;

  constructor(public id = 'conversation-1') {}

  get position(): Position {
    return { conversationId: this.id, sequence: this.messages.length };
  }

  add(count = 1): Message {
    for (let added = 0; added < count; added += 1) {
      const id = String(this.messages.length + 1).padStart(5, '0');
      this.messages.push({
        id: `${this.id}-${id}`,
        senderType: 'AGENT',
        senderName: null,
        clientMessageId: null,
        body: id,
        createdAt: '2026-11-22T10:00:00.000Z',
        delivery: { status: 'SENT' },
      });
    }
    return this.messages.at(-1)!;
  }

  readonly read = (limit: number, cursor?: string): Promise<MessagePage> => {
    this.reads += 1;
    if (this.isDown) return Promise.reject(new ServiceError(503, 'down'));
    const rest = this.messages.filter(({ id }) => !cursor || id < cursor).toReversed();
    const data = rest.slice(0, limit);
    return Promise.resolve({ data, nextCursor: rest.length > limit ? data.at(-1)!.id : null });
  };
}

function syncOf(conversation: Conversation) {
  const timeline = new Timeline();
  const fresh: string[] = [];
  const seen = { rewound: 0, refused: 0 };
  const sync = new ConversationSync(timeline, conversation.read, {
    onChange: (messages) => fresh.push(...messages.map(({ id }) => id)),
    onRewound: () => (seen.rewound += 1),
    onRefused: () => (seen.refused += 1),
  });
  const ready = () => sync.apply({ type: 'ready', ...conversation.position });
  const hear = (message: Message, position = conversation.position) =>
    sync.apply({ type: 'message', message, ...position });
  return { timeline, sync, fresh, seen, ready, hear };
}

const idsOf = (holder: { messages: readonly Message[] }) => holder.messages.map(({ id }) => id);

describe('ConversationSync', () => {
  it('reads the newest messages first, and older ones when asked', async () => {
    const conversation = new Conversation();
    conversation.add(120);
    const { timeline, sync, fresh, ready } = syncOf(conversation);
    await ready();
    expect(idsOf(timeline)).toEqual(idsOf(conversation).slice(-50));
    await sync.loadOlder();
    await sync.loadOlder();
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(timeline.olderCursor).toBeNull();
    expect(fresh).toEqual([]);
  });

  it('reads nothing when each event is the next one', async () => {
    const conversation = new Conversation();
    conversation.add(3);
    const { timeline, fresh, ready, hear } = syncOf(conversation);
    await ready();
    const { reads } = conversation;
    for (let count = 0; count < 20; count += 1) await hear(conversation.add());
    await ready();
    expect(conversation.reads).toBe(reads);
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(fresh).toEqual(idsOf(conversation).slice(3));
  });

  it('reads back what events have not brought, however much it is', async () => {
    const conversation = new Conversation();
    conversation.add(3);
    const { timeline, ready, hear } = syncOf(conversation);
    await ready();
    conversation.add(500);
    await hear(conversation.add());
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(timeline.sequence).toBe(504);
  });

  it('does not trust the number of an event whose message it has', async () => {
    const conversation = new Conversation();
    conversation.add(3);
    const { timeline, ready, hear } = syncOf(conversation);
    await ready();
    const lost = conversation.add();
    await hear(conversation.messages[0]!);
    expect(idsOf(timeline)).toContain(lost.id);
  });

  it('shows one message once, even if its event comes twice', async () => {
    const conversation = new Conversation();
    const { timeline, fresh, ready, hear } = syncOf(conversation);
    await ready();
    const message = conversation.add();
    await Promise.all([hear(message), hear(message), ready()]);
    expect(idsOf(timeline)).toEqual([message.id]);
    expect(fresh).toEqual([message.id]);
  });

  it('drops the messages of an earlier conversation', async () => {
    const conversation = new Conversation();
    conversation.add(3);
    const { timeline, seen, ready, hear } = syncOf(conversation);
    await ready();
    conversation.id = 'conversation-2';
    conversation.messages = [];
    await hear(conversation.add());
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(timeline.conversationId).toBe('conversation-2');
    expect(seen.rewound).toBe(0);
  });

  it('reads anew when the service has lost its last moments', async () => {
    const conversation = new Conversation();
    conversation.add(10);
    const { timeline, seen, ready } = syncOf(conversation);
    await ready();
    conversation.messages = conversation.messages.slice(0, 8);
    await ready();
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(timeline.sequence).toBe(8);
    expect(seen.rewound).toBe(1);
  });

  it('takes pages while the stream is held back, also where they leave a gap', async () => {
    const conversation = new Conversation();
    conversation.add(3);
    const { timeline, sync, fresh } = syncOf(conversation);
    const poll = async () => sync.apply({ type: 'page', page: await conversation.read(20) });
    await poll();
    expect(fresh).toEqual([]);
    conversation.add(100);
    await poll();
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
    expect(fresh).toHaveLength(100);
    // The stream comes through after all.
    await sync.apply({ type: 'ready', ...conversation.position });
    expect(idsOf(timeline).slice(-50)).toEqual(idsOf(conversation).slice(-50));
  });

  it('tries again when a page could not be read', async () => {
    const conversation = new Conversation();
    const { timeline, sync, ready } = syncOf(conversation);
    await ready();
    conversation.add(2);
    conversation.isDown = true;
    await ready();
    expect(timeline.messages).toEqual([]);
    conversation.isDown = false;
    await new Promise<void>((resolve) => {
      const add = timeline.add.bind(timeline);
      timeline.add = (messages) => {
        resolve();
        return add(messages);
      };
    });
    sync.stop();
    expect(idsOf(timeline)).toEqual(idsOf(conversation));
  });
});
