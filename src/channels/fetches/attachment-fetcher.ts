import { Injectable, Logger } from '@nestjs/common';
import { AttachmentProblem } from '../../attachments/attachment.entity';
import { AttachmentKey, AttachmentsRepository } from '../../attachments/attachments.repository';
import { FileRefused } from '../../attachments/files/file-intake';
import { ReceivedFiles } from '../../attachments/received-files';
import { MAX_FILE_BYTES } from '../../common/file-limits';
import { Database } from '../../database/database';
import { Metrics } from '../../metrics/metrics';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { SecretUnreadable } from '../../secrets/secret-box';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { FetchOutcome } from '../adapters/channel-adapter';
import { FetchedFile } from '../adapters/file-fetcher';
import { ConnectionLoader } from '../connections/connection-loader';
import { AttachmentFetchesRepository, ClaimedFetch } from './attachment-fetches.repository';

/** Milliseconds before each further try. After the last, the file is given up until an agent asks for it. */
const PAUSES_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, 2 * 3_600_000, 6 * 3_600_000];
/** Longest time of one try in milliseconds. */
const TRY_MS = 5 * 60_000;
/** Number of workspaces whose files a worker fetches at the same time. */
const SIDE_BY_SIDE = 8;
const MAX_NAME_CHARACTERS = 255;

/** Result of a try: the file is stored, or its fetch has ended, or goes on after a time. */
type TryResult = 'stored' | { problem: AttachmentProblem; isFinal: boolean } | { retryAfterMs?: number };

/** Fetches the files of customers' messages from the providers, and stores them. */
@Injectable()
export class AttachmentFetcher {
  private readonly logger = new Logger(AttachmentFetcher.name);

  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly fetches: AttachmentFetchesRepository,
    private readonly attachments: AttachmentsRepository,
    private readonly files: ReceivedFiles,
    private readonly connections: ConnectionLoader,
    private readonly adapters: ChannelAdapters,
    private readonly metrics: Metrics,
  ) {
    runner.registerFree({
      name: 'attachment fetches',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => fetches.findDue(after, server) },
      sideBySide: SIDE_BY_SIDE,
      step: (key) => this.step(key),
    });
  }

  private async step(key: AttachmentKey): Promise<StepOutcome> {
    const claimed = await this.claim(key);
    if (claimed === null) return 'done';
    const result = claimed === 'unreadable' ? END_UNREADABLE : await this.tryFetch(claimed);
    await this.record(key, result, claimed === 'unreadable' ? 0 : claimed.tries);
    return 'done';
  }

  /** Claims a fetch. Its reference cannot be read while its encryption key is missing. */
  private async claim(key: AttachmentKey): Promise<ClaimedFetch | 'unreadable' | null> {
    try {
      return await this.database.queueTransaction((tx) => this.fetches.claim(tx, key));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error({ err: error, ...key }, "the reference of a file can't be decrypted");
      return 'unreadable';
    }
  }

  private async tryFetch(claimed: ClaimedFetch): Promise<TryResult> {
    const { tenantId, connectionId, reference, tries } = claimed;
    // A file that ended its worker in each try comes here without any result.
    if (tries > PAUSES_MS.length + 1) return { problem: 'EXHAUSTED', isFinal: false };
    const signal = AbortSignal.timeout(TRY_MS);
    try {
      const connection = await this.connections.load(tenantId, connectionId);
      if (!connection || connection.status === 'DISCONNECTED') return { problem: 'REAUTH', isFinal: true };
      const adapter = this.adapters.getHookedAdapter(connection.channel);
      const outcome = await adapter.fetchFile(connection, reference, signal);
      return outcome.kind === 'FETCHED' ? await this.store(claimed, outcome, signal) : resultOf(outcome);
    } catch (error) {
      // The address of a file can be in the error's text, so its class alone is logged.
      this.logger.warn({ ...idsOf(claimed), error: (error as Error).name, tries }, 'a file was not fetched');
      return {};
    }
  }

  private async store(
    key: ClaimedFetch,
    { content, contentType, size }: FetchedFile,
    signal: AbortSignal,
  ): Promise<TryResult> {
    if (size !== undefined && size > MAX_FILE_BYTES) {
      content.destroy();
      return { problem: 'TOO_BIG', isFinal: true };
    }
    const attachment = await this.attachments.find(key);
    if (attachment?.state !== 'PENDING') {
      content.destroy();
      return 'stored';
    }
    // The connection may have broken meanwhile. Nothing would tell that to a reader.
    if (content.destroyed) return {};
    const { sha256, durationMs = null } = key.reference;
    const expected = {
      maxBytes: MAX_FILE_BYTES,
      size,
      sha256: sha256 === undefined ? null : Buffer.from(sha256, 'hex'),
      contentType: attachment.contentType ?? contentType,
      name: (attachment.name ?? '').slice(0, MAX_NAME_CHARACTERS),
      durationMs,
      signal,
    };
    try {
      const end = await this.files.store(key, content, expected, (tx) => this.fetches.delete(tx, key));
      return end === 'full' ? { problem: 'FULL', isFinal: false } : 'stored';
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      return error.why === 'too_large' ? { problem: 'TOO_BIG', isFinal: true } : {};
    }
  }

  /** Records a try. A fetch whose message was erased meanwhile has no row any more. */
  private async record(key: AttachmentKey, result: TryResult, tries: number): Promise<void> {
    this.metrics.attachmentFetches.inc({ outcome: outcomeOf(result) });
    if (result === 'stored') return;
    await this.database.transaction(async (tx) => {
      if ('problem' in result) {
        await this.files.fail(tx, key, result.problem);
        if (result.isFinal) await this.fetches.delete(tx, key);
        else await this.fetches.schedule(tx, key, null);
        return;
      }
      const pauseMs = PAUSES_MS[tries - 1];
      if (pauseMs === undefined) {
        await this.files.fail(tx, key, 'EXHAUSTED');
        await this.fetches.schedule(tx, key, null);
      } else await this.fetches.schedule(tx, key, Math.max(pauseMs, result.retryAfterMs ?? 0));
    });
  }
}

const END_UNREADABLE: TryResult = { problem: 'EXHAUSTED', isFinal: false };

function resultOf(outcome: Exclude<FetchOutcome, FetchedFile>): TryResult {
  if (outcome.kind === 'RETRY') return { retryAfterMs: outcome.afterMs };
  // An agent may have a file fetched again once the credentials are new, or its host is listed.
  const isFinal = outcome.kind === 'GONE' || outcome.kind === 'TOO_BIG';
  return { problem: outcome.kind, isFinal };
}

/** Returns the outcome of a try as a metric names it. */
function outcomeOf(result: TryResult): string {
  if (result === 'stored') return result;
  return 'problem' in result ? result.problem.toLowerCase() : 'retry';
}

function idsOf({ tenantId, attachmentId }: AttachmentKey): AttachmentKey {
  return { tenantId, attachmentId };
}
