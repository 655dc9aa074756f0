import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { AgentRole } from 'conversation-messaging-service';
import {
  awaitListening,
  type EventStream,
  EventStreams,
  Periodic,
  type StreamGroup,
  StreamGroups,
} from 'conversation-messaging-service/http';
import { LoginsService, type Membership, type OpenedSession } from 'conversation-messaging-service/logins';
import type { Response } from 'express';
import { InboxNotices } from './inbox-notices';
import { PresenceNotices } from './presence-notices';

const CHECK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** Sessions that one SQL statement checks. */
const CHECK_BATCH = 500;

/** State that is shared by all streams of one session in one workspace. */
interface InboxContext {
  readonly sessionId: string;
  readonly workspaceId: string;
  /** Role of the person when the first stream began. All these streams end when the role changes. */
  readonly role: AgentRole | undefined;
  readonly listening: Promise<void>;
  readonly stop: () => void;
}

type InboxGroup = StreamGroup<InboxContext>;

/**
 * Opens, feeds and ends the streams of the inboxes that are open in this process. A stream carries ids of
 * changed rows, but no content. The page then requests the content, and the routes check the person's rights
 * at that time.
 */
@Injectable()
export class InboxStreams implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(InboxStreams.name);
  private readonly groups = new StreamGroups<InboxContext>();
  private readonly checks = new Periodic(
    CHECK_MS,
    () => this.endClosed(),
    (error) =>
      this.logger.warn({ err: error }, 'the sessions of streams were not checked; the next round will'),
  );
  private readonly heartbeats = new Periodic(
    HEARTBEAT_MS,
    () => this.sendHeartbeats(),
    (error) => this.logger.warn({ err: error }, 'sending heartbeats failed; the next ones will retry'),
  );

  constructor(
    private readonly notices: InboxNotices,
    private readonly logins: LoginsService,
    private readonly streams: EventStreams,
    private readonly presence: PresenceNotices,
  ) {}

  onModuleInit(): void {
    this.checks.start();
    this.heartbeats.start();
  }

  /**
   * Turns a response into the inbox's stream for a session in a workspace. The stream begins with `ready`. It
   * ends when the client disconnects, the session ends, the person loses access to the workspace or changes
   * role, or the process stops.
   * @throws AppError RATE_LIMITED (the session, client address or workspace has too many streams),
   *   UNAVAILABLE (the process has too many, or stops)
   */
  async open(opened: OpenedSession, workspaceId: string, response: Response): Promise<void> {
    const { session } = opened;
    const owner = { workspace: workspaceId, caller: `${session.id} ${workspaceId}` };
    const stream = this.streams.start(response, owner);
    const group = this.groups.join(owner, stream, () => {
      const membership = membershipIn(opened, workspaceId);
      const listened = this.notices.listen(workspaceId, membership?.agentId, (event, data) =>
        group.send(event, 0, data),
      );
      const stopPresence = this.presence.listen(workspaceId, membership?.agentId, (conversationIds) =>
        group.send('presence', 0, { conversationIds }),
      );
      const stop = () => {
        listened.stop();
        stopPresence();
      };
      return {
        sessionId: session.id,
        workspaceId,
        role: membership?.role,
        listening: listened.listening,
        stop,
      };
    });
    stream.onEnd(() => this.leave(group, stream));
    await awaitListening(group.context.listening);
    stream.begin();
    stream.send('ready', 0, {});
    await this.presence.keepOpen([workspaceId]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.checks.stop(), this.heartbeats.stop()]);
  }

  /** Ends each stream whose session has ended, or whose person has lost the workspace or has another role. */
  private async endClosed(): Promise<void> {
    const groups = this.groups.list();
    for (let from = 0; from < groups.length; from += CHECK_BATCH) {
      const checked = groups.slice(from, from + CHECK_BATCH);
      const ids = [...new Set(checked.map(({ context }) => context.sessionId))];
      const opened = new Map((await this.logins.listOpened(ids)).map((one) => [one.session.id, one]));
      for (const group of checked) if (!isOpen(group, opened)) group.end('session_ended');
    }
  }

  private sendHeartbeats(): Promise<void> {
    const workspaces = new Set<string>();
    for (const group of this.groups.list()) {
      group.send('heartbeat', 0, {});
      workspaces.add(group.context.workspaceId);
    }
    return this.presence.keepOpen([...workspaces]);
  }

  private leave(group: InboxGroup, stream: EventStream): void {
    this.groups.leave(group, stream);
    if (group.streams.size === 0) group.context.stop();
  }
}

function isOpen({ context }: InboxGroup, opened: Map<string, OpenedSession>): boolean {
  const session = opened.get(context.sessionId);
  if (session?.unreachableWorkspaceIds.includes(context.workspaceId)) return true;
  return session !== undefined && membershipIn(session, context.workspaceId)?.role === context.role;
}

function membershipIn({ memberships }: OpenedSession, workspaceId: string): Membership | undefined {
  return memberships.find(({ workspace }) => workspace.id === workspaceId);
}
