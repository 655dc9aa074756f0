import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Periodic } from '../../common/periodic';
import { toMessage } from '../../messages/message.dto';
import { Metrics } from '../../metrics/metrics';
import { EventStream } from './event-stream';
import { nameOf, StreamGroup, StreamGroups } from './stream-groups';
import { Visitor, Widget } from './visitor';
import { VisitorsRepository, VisitorState } from './visitors.repository';
import { WidgetNotice, WidgetSignal } from '../adapters/widget.signal';

const HEARTBEAT_MS = 15_000;

/**
 * The visitors that are connected to this process. Each hears of every message in their conversation, their own ones in
 * other tabs among them, and at every heartbeat how many events that conversation has had: so what was lost on the way
 * here is noticed, and read.
 */
@Injectable()
export class VisitorStreams implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(VisitorStreams.name);
  private readonly groups = new StreamGroups();
  private readonly heartbeat = new Periodic(
    HEARTBEAT_MS,
    () => this.beat(),
    (error) => this.logger.warn({ err: error }, 'a heartbeat was left out'),
  );
  private stopping = false;

  constructor(
    private readonly visitors: VisitorsRepository,
    private readonly signal: WidgetSignal,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.signal.onNotice((notice) => this.hear(notice));
    this.heartbeat.start();
  }

  /**
   * Begins a stream with `ready`. It lasts until the client hangs up, its token expires, or the process stops.
   * @throws AppError RATE_LIMITED (too many at once), NOT_FOUND (the widget is no more), UNAVAILABLE
   */
  async open(widget: Widget, visitor: Visitor, address: string, stream: EventStream): Promise<void> {
    if (this.stopping) throw new AppError('UNAVAILABLE', 'The process is stopping. Connect again.');
    const { externalId, expiresAt } = visitor;
    // It is counted, and waits in line with what it may miss, before anything is read.
    const group = this.groups.add({ connectionId: widget.id, externalId }, address, stream);
    this.metrics.visitorStreams.inc();
    const expiry = setTimeout(() => stream.end('token_expired'), expiresAt.getTime() - Date.now());
    stream.onEnd(() => {
      clearTimeout(expiry);
      this.metrics.visitorStreams.dec();
      this.groups.remove(group, address, stream);
    });
    await group.inTurn(async () => {
      const state = await this.visitors.state(group.key);
      if (!state) throw AppError.notFound('Widget');
      group.begin(state.version);
      stream.begin();
      stream.send('ready', state.sequence, standOf(state));
    });
  }

  /** Tells every visitor where their conversation stands, with one query for all of them. */
  async beat(): Promise<void> {
    const groups = this.groups.all();
    if (groups.length === 0) return;
    const states = await this.visitors.states(groups.map(({ key }) => key));
    const byVisitor = new Map(states.map((state) => [nameOf(state), state]));
    for (const group of groups) {
      const state = byVisitor.get(nameOf(group.key));
      if (!state || group.isOutdated(state.version)) group.end('widget_changed');
      else group.send('heartbeat', state.sequence, standOf(state));
    }
  }

  /** Ends all streams, and takes no more: they would keep the process from stopping for hours. */
  stop(): void {
    this.stopping = true;
    for (const group of this.groups.all()) group.end('server_stopping');
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop();
    await this.heartbeat.stop();
  }

  private hear(notice: WidgetNotice): void {
    if (notice.kind === 'changed') {
      const ended = this.groups.all().filter(({ key }) => key.connectionId === notice.connectionId);
      for (const group of ended) group.end('widget_changed');
      return;
    }
    const group = this.groups.get(notice);
    group
      ?.inTurn(() => this.tell(group, notice.messageId))
      .catch((error: Error) => this.logger.warn({ err: error }, 'a message waits for the next heartbeat'));
  }

  /** The message is read once, however many streams there are. */
  private async tell(group: StreamGroup, messageId: string): Promise<void> {
    const found = await this.visitors.stateWith(group.key, messageId);
    if (!found) return;
    const { state, message } = found;
    group.send('message', state.sequence, { ...standOf(state), message: toMessage(message) });
  }
}

function standOf({ conversationId, sequence }: VisitorState): object {
  return { conversationId, sequence };
}
