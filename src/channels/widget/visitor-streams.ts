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
import { VisitorKey, VisitorsRepository, VisitorState } from './visitors.repository';
import { toVisitorMessage } from './widget-answers.dto';
import { WidgetSignal } from '../adapters/widget/widget-signal';

const HEARTBEAT_MS = 15_000;
/** Number of streams that a visitor has before their first message. */
const MAX_WITHOUT_CONVERSATION = 3;
/** Limit of the visitors whose states one statement reads for a heartbeat. */
const HEARTBEAT_BATCH = 500;

/** Context that the streams of one visitor share. */
interface VisitorContext {
  readonly key: VisitorKey;
  /** Settles once this process hears of each message to the visitor; null before it listens. */
  listening: Promise<void> | null;
  /** Version of the widget when the first stream began; null before. */
  version: string | null;
  /** Presence of the visitor; null if the widget shows none. */
  presence: PresentVisitor | null;
}

type VisitorGroup = StreamGroup<VisitorContext>;

/**
 * Streams of the visitors that are connected to this process. They carry every message of the visitor's
 * conversation, also messages from other tabs. Each heartbeat carries the conversation's sequence, by which
 * the client detects lost messages.
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
  ) {}

  onModuleInit(): void {
    this.heartbeat.start();
  }

  /**
   * Makes a response the stream of a visitor. It begins with `ready`, and lasts until the client hangs up,
   * its token expires, the widget changes, or the process stops. When there is no room, a visitor without a
   * conversation gives way to one who has a conversation with the same widget, or to a widget with fewer
   * streams.
   * @throws AppError RATE_LIMITED (too many at once), NOT_FOUND (the widget is disconnected), UNAVAILABLE
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
    // Comes before the state is read, so that no message in between is missed.
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

  /** Sends each visitor a heartbeat, with one query for many of them. */
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

  /** Stops listening for the visitor with the group's last stream, and for the widget with its last group. */
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

  /** Reads the message once for all streams of the visitor. */
  private async sendMessage(group: VisitorGroup, messageId: string): Promise<void> {
    const found = await this.visitors.findStateWithMessage(group.context.key, messageId);
    if (!found) return;
    const { state, message } = found;
    group.send('message', state.sequence, {
      ...toPosition(state),
      message: toVisitorMessage(message),
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

  /**
   * Reads in which workspaces of visitors an agent has an inbox open. In a suspended workspace no agent
   * counts.
   */
  private async listOnline(states: VisitorState[]): Promise<Map<string, boolean>> {
    const tenants = new Map(states.map(({ tenantId, isSuspended }) => [tenantId, isSuspended]));
    const read = async ([tenantId, isSuspended]: [string, boolean]) =>
      [tenantId, !isSuspended && (await this.presence.areAgentsOnline(tenantId))] as const;
    return new Map(await Promise.all([...tenants].map(read)));
  }
}

/** Notes a visitor's conversation. Streams of visitors without one give way to others. */
function follow({ context, streams }: VisitorGroup, state: VisitorState): void {
  for (const stream of streams) stream.mayGiveWay = state.conversationId === null;
  context.presence?.follow(state);
}

/** Reports whether the widget has changed since the first stream of the visitor began. */
function isOutdated({ context }: VisitorGroup, { version }: VisitorState): boolean {
  return context.version !== null && context.version !== version;
}

/** Returns a text that names a visitor. It is unique, because a connection id has no space. */
function textKey({ connectionId, externalId }: Omit<VisitorKey, 'tenantId'>): string {
  return `${connectionId} ${externalId}`;
}

function toPosition({ conversationId, sequence }: VisitorState): object {
  return { conversationId, sequence };
}
