import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../common/app-error';
import { Periodic } from '../../common/periodic';
import { Connections } from '../../http/connections';
import { Metrics } from '../../metrics/metrics';
import { WorkBudgets } from '../../rate-limit/work-budgets';
import { EventStream } from './event-stream';
import { RETRY_AFTER_SECONDS, textKeyOf, StreamGroup, StreamGroups } from './stream-groups';
import { Visitor, Widget } from './visitor';
import { VisitorsRepository, VisitorState } from './visitors.repository';
import { toVisitorMessage } from './widget.dto';
import { WidgetSignal } from '../adapters/widget-signal';

const HEARTBEAT_MS = 15_000;
/** How long a stream waits for Redis before it begins. Without Redis its heartbeats announce what it misses. */
const LISTEN_MS = 100;
/** Visitors in one statement. */
const HEARTBEAT_BATCH = 500;

/**
 * The streams of the visitors that are connected to this process. They carry every message of the visitor's
 * conversation, also those from other tabs. Each heartbeat carries the conversation's sequence, by which the client
 * detects lost messages.
 */
@Injectable()
export class VisitorStreams implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(VisitorStreams.name);
  private readonly groups = new StreamGroups();
  private readonly heartbeat = new Periodic(
    HEARTBEAT_MS,
    () => this.sendHeartbeats(),
    (error) => this.logger.warn({ err: error }, 'sending heartbeats failed; the next ones will retry'),
  );
  private stopping = false;

  constructor(
    private readonly visitors: VisitorsRepository,
    private readonly signal: WidgetSignal,
    private readonly metrics: Metrics,
    private readonly connections: Connections,
    private readonly budgets: WorkBudgets,
  ) {}

  onModuleInit(): void {
    this.heartbeat.start();
  }

  /**
   * The stream begins with `ready`. It lasts until the client hangs up, its token expires, the widget changes, or the
   * process stops.
   * @throws AppError RATE_LIMITED (too many at once), NOT_FOUND (the widget is disconnected), UNAVAILABLE
   */
  async open(widget: Widget, visitor: Visitor, address: string, stream: EventStream): Promise<void> {
    if (this.stopping) throw new AppError('UNAVAILABLE', 'The process is stopping. Connect again.');
    const release = await this.budgets.acquire('streams', widget.id).catch((error: unknown) => {
      stream.retryAfter(RETRY_AFTER_SECONDS);
      throw error;
    });
    stream.onEnd(release);
    const { externalId, expiresAt } = visitor;
    // Before the state is read, so that no message in between is missed.
    const key = { tenantId: widget.tenantId, connectionId: widget.id, externalId };
    const group = this.groups.add(key, address, stream);
    this.listen(group);
    this.metrics.visitorStreams.inc();
    this.connections.countAsStream(stream.socket);
    const expiry = setTimeout(() => stream.end('token_expired'), expiresAt.getTime() - Date.now());
    stream.onEnd(() => {
      clearTimeout(expiry);
      this.metrics.visitorStreams.dec();
      this.stopListening(group, stream);
      this.groups.remove(group, address, stream);
    });
    await group.runInOrder(async () => {
      await Promise.race([group.listening, sleep(LISTEN_MS, undefined, { ref: false })]);
      const state = await this.visitors.state(group.key);
      if (!state) throw AppError.notFound('Widget');
      group.setVersionOnce(state.version);
      stream.begin();
      stream.send('ready', state.sequence, positionOf(state));
    });
  }

  /** One query for many visitors. */
  async sendHeartbeats(): Promise<void> {
    const groups = this.groups.all();
    for (let from = 0; from < groups.length; from += HEARTBEAT_BATCH)
      await this.sendHeartbeatsTo(groups.slice(from, from + HEARTBEAT_BATCH));
  }

  private async sendHeartbeatsTo(groups: StreamGroup[]): Promise<void> {
    const states = await this.visitors.states(groups.map(({ key }) => key));
    const byVisitor = new Map(states.map((state) => [textKeyOf(state), state]));
    for (const group of groups) {
      const state = byVisitor.get(textKeyOf(group.key));
      if (!state || group.isOutdated(state.version)) group.end('widget_changed');
      else group.send('heartbeat', state.sequence, positionOf(state));
    }
  }

  /** Open streams would keep the process from stopping for hours. */
  stop(): void {
    this.stopping = true;
    for (const group of this.groups.all()) group.end('server_stopping');
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop();
    await this.heartbeat.stop();
  }

  private listen(group: StreamGroup): void {
    if (group.listening) return;
    group.listening = this.signal.onMessage(group.key, (messageId) => this.announce(group, messageId));
    const { connectionId } = group.key;
    if (this.groups.isOnlyOneOfWidget(group))
      this.signal.onChanged(connectionId, () => {
        for (const outdated of this.groups.ofWidget(connectionId)) outdated.end('widget_changed');
      });
  }

  /** With the group's last stream, and the widget's last group. */
  private stopListening(group: StreamGroup, ended: EventStream): void {
    if (group.streams.size > 1 || !group.streams.has(ended)) return;
    this.signal.offMessage(group.key);
    if (this.groups.isOnlyOneOfWidget(group)) this.signal.offChanged(group.key.connectionId);
  }

  private announce(group: StreamGroup, messageId: string): void {
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
  private async sendMessage(group: StreamGroup, messageId: string): Promise<void> {
    const found = await this.visitors.stateWith(group.key, messageId);
    if (!found) return;
    const { state, message } = found;
    group.send('message', state.sequence, {
      ...positionOf(state),
      message: toVisitorMessage(message),
    });
  }
}

function positionOf({ conversationId, sequence }: VisitorState): object {
  return { conversationId, sequence };
}
