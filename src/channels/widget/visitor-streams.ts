import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { EventStream } from '../../http/streams/event-stream';
import { EventStreams } from '../../http/streams/event-streams';
import { awaitListening, StreamGroup, StreamGroups } from '../../http/streams/stream-groups';
import { Metrics } from '../../metrics/metrics';
import { VisitorPresence } from '../../inbox/presence/visitor-presence';
import { PresentVisitor } from './present-visitor';
import { Visitor, Widget } from './visitor';
import { VisitorAttachments } from './visitor-attachments';
import { VisitorKey, VisitorsRepository, VisitorState } from './visitors.repository';
import { WidgetSignal } from '../adapters/widget/widget-signal';

const HEARTBEAT_MS = 15_000;
/** Maximum number of streams of a visitor without a conversation. */
const MAX_WITHOUT_CONVERSATION = 3;
/** Maximum number of visitors whose states one query reads before heartbeats are sent to them. */
const HEARTBEAT_BATCH = 500;

/** State that all streams of a visitor in this process have in common. */
interface VisitorContext {
  readonly key: VisitorKey;
  /** Settles when this process receives signals of the visitor's messages; null before it subscribes. */
  listening: Promise<void> | null;
  /** Version of the widget's connection when the visitor's first stream began; null until then. */
  version: string | null;
  /** Null if the widget's settings switch presence off. */
  presence: PresentVisitor | null;
}

type VisitorGroup = StreamGroup<VisitorContext>;

/**
 * Sends server-sent events to visitors: every message of the conversation, including messages from other
 * tabs. Each heartbeat contains the number of the conversation's last event, by which clients detect lost
 * messages.
 */
@Injectable()
export class VisitorStreams implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(VisitorStreams.name);
  private readonly groups = new StreamGroups<VisitorContext>();
  private readonly heartbeat = new Periodic(
    HEARTBEAT_MS,
    () => this.sendHeartbeats(),
    (error) => this.logFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly visitors: VisitorsRepository,
    private readonly signal: WidgetSignal,
    private readonly metrics: Metrics,
    private readonly streams: EventStreams,
    private readonly presence: VisitorPresence,
    private readonly attachments: VisitorAttachments,
  ) {}

  onModuleInit(): void {
    this.heartbeat.start();
  }

  /**
   * Makes a response an event stream. It begins with `ready`, and ends if the client disconnects, its token
   * expires, the widget changes, or the process stops. If too many streams are open, it may end one of a
   * visitor without a conversation, to make room for a visitor with one or a widget with fewer streams.
   * @throws AppError RATE_LIMITED: too many streams; NOT_FOUND: the widget is disconnected; UNAVAILABLE
   */
  async open(widget: Widget, { externalId, expiresAt }: Visitor, response: Response): Promise<void> {
    const key = { tenantId: widget.tenantId, connectionId: widget.id, externalId };
    const owner = { workspace: widget.id, caller: textKey(key) };
    const matters = this.streams.isFull(widget.id) && (await this.hasConversation(key));
    const stream = this.streams.start(response, owner, matters);
    const group = this.groups.join(owner, stream, () => ({
      key,
      listening: null,
      version: null,
      presence: null,
    }));
    if (widget.settings.showsPresence !== false) group.context.presence ??= this.present(group);
    // Subscribes before the state is read, so that no message in between is missed.
    this.listen(group);
    this.metrics.visitorStreams.inc();
    const expiry = setTimeout(() => stream.end('token_expired'), expiresAt.getTime() - Date.now());
    stream.onEnd(() => {
      clearTimeout(expiry);
      this.metrics.visitorStreams.dec();
      this.stopListening(group, stream);
      this.groups.leave(group, stream);
    });
    await group.runInOrder(async () => {
      await awaitListening(group.context.listening);
      const state = await this.visitors.findState(key);
      if (!state) throw AppError.notFound('Widget');
      if (state.conversationId === null && group.streams.size > MAX_WITHOUT_CONVERSATION)
        throw this.streams.refuse();
      group.context.version ??= state.version;
      const online = await this.listOnline([state]);
      stream.begin();
      const isOnline = group.context.presence && online.get(state.tenantId)!;
      stream.send('ready', state.sequence, { ...toPosition(state), isOnline });
      follow(group, state);
    });
  }

  async sendHeartbeats(): Promise<void> {
    const groups = this.groups.list().map((group) => ({ tenantId: group.context.key.tenantId, group }));
    await this.database.workInBatches(
      groups,
      HEARTBEAT_BATCH,
      (batch) => this.sendHeartbeatsTo(batch.map(({ group }) => group)),
      (error) => this.logFailure(error),
    );
  }

  private logFailure(error: Error): void {
    this.logger.warn({ err: error }, 'sending heartbeats failed; the next ones will retry');
  }

  private async sendHeartbeatsTo(groups: VisitorGroup[]): Promise<void> {
    const states = await this.visitors.listStates(groups.map(({ context }) => context.key));
    const online = await this.listOnline(states);
    const byVisitor = new Map(states.map((state) => [textKey(state), state]));
    for (const group of groups) {
      const state = byVisitor.get(group.owner.caller);
      if (!state || isOutdated(group, state)) group.end('widget_changed');
      else {
        const isOnline = group.context.presence && online.get(state.tenantId)!;
        group.send('heartbeat', state.sequence, { ...toPosition(state), isOnline });
        follow(group, state);
      }
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.heartbeat.stop();
  }

  private listen(group: VisitorGroup): void {
    const { context } = group;
    if (context.listening) return;
    context.listening = this.signal.onMessage(context.key, (messageId) => this.announce(group, messageId));
    const { connectionId } = context.key;
    if (this.groups.isOnlyOneInWorkspace(group))
      this.signal.onChanged(connectionId, () => {
        for (const outdated of this.groups.listInWorkspace(connectionId)) outdated.end('widget_changed');
      });
  }

  /** Unsubscribes from the visitor after the last stream, and from the widget after its last visitor. */
  private stopListening(group: VisitorGroup, ended: EventStream): void {
    if (group.streams.size > 1 || !group.streams.has(ended)) return;
    group.context.presence?.leave();
    const { key } = group.context;
    this.signal.offMessage(key);
    if (this.groups.isOnlyOneInWorkspace(group)) this.signal.offChanged(key.connectionId);
  }

  private announce(group: VisitorGroup, messageId: string): void {
    group
      .runInOrder(() => this.sendMessage(group, messageId))
      .catch((error: Error) =>
        this.logger.warn(
          { err: error },
          'a message was not sent to a visitor; the next heartbeat announces it',
        ),
      );
  }

  private async sendMessage(group: VisitorGroup, messageId: string): Promise<void> {
    const found = await this.visitors.findStateWithMessage(group.context.key, messageId);
    if (!found) return;
    const { state, message } = found;
    group.send('message', state.sequence, {
      ...toPosition(state),
      message: await this.attachments.attach(state.tenantId, message),
    });
    follow(group, state);
  }

  private async hasConversation(key: VisitorKey): Promise<boolean> {
    const state = await this.visitors.findState(key);
    return state !== null && state.conversationId !== null;
  }

  private present(group: VisitorGroup): PresentVisitor {
    return new PresentVisitor(this.presence, (reply, state) =>
      group.send('typing', state.sequence, { ...toPosition(state), ...reply }),
    );
  }

  /** Reads for each workspace whether an agent has an inbox open; false for a suspended workspace. */
  private async listOnline(states: VisitorState[]): Promise<Map<string, boolean>> {
    const tenants = new Map(states.map(({ tenantId, isSuspended }) => [tenantId, isSuspended]));
    const read = async ([tenantId, isSuspended]: [string, boolean]) =>
      [tenantId, !isSuspended && (await this.presence.areAgentsOnline(tenantId))] as const;
    return new Map(await Promise.all([...tenants].map(read)));
  }
}

/** Applies a visitor's new state. A visitor's streams may make way for others if it has no conversation. */
function follow({ context, streams }: VisitorGroup, state: VisitorState): void {
  for (const stream of streams) stream.mayGiveWay = state.conversationId === null;
  context.presence?.follow(state);
}

/** Reports whether the widget's connection has changed since the visitor's first stream began. */
function isOutdated({ context }: VisitorGroup, { version }: VisitorState): boolean {
  return context.version !== null && context.version !== version;
}

/** Returns a key that only this visitor has, because a connection id contains no space. */
function textKey({ connectionId, externalId }: Omit<VisitorKey, 'tenantId'>): string {
  return `${connectionId} ${externalId}`;
}

function toPosition({ conversationId, sequence }: VisitorState): object {
  return { conversationId, sequence };
}
