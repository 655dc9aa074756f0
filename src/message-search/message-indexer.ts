import { Injectable } from '@nestjs/common';
import { HIGHEST_ID, idTime } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { IndexProgress, MessageIndexRepository, PendingText } from './message-index.repository';
import { termsOfText } from './search-phrases';
import { SettledTime } from './settled-time';
import { bucketOf } from './term-keys';

/** Number of terms after which a step ends, so that it takes a bounded time. Its last text may exceed it. */
const MAX_TERMS = 5_000;
/** Number of rows that a step of LIST or CLEAR handles for each message of a step. */
const KEYS_PER_TEXT = 10;

type SplitText = PendingText & { terms: Set<string> };

/** Texts of one step with their terms. */
interface Split {
  texts: SplitText[];
  /** Whether the step has handled all texts that it was given. */
  isComplete: boolean;
  /** Id of the last text that it has handled. */
  lastId: string | undefined;
}

/**
 * Fills the index of a workspace in small steps. A step is one transaction that holds the lock of the
 * workspace's index: rows and progress change together, so another worker goes on after a killed one, and no
 * word of a text is written after the text was erased.
 */
@Injectable()
export class MessageIndexer {
  constructor(
    private readonly database: Database,
    private readonly index: MessageIndexRepository,
    private readonly settled: SettledTime,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Indexes up to `size` new messages of a workspace.
   * @returns the id up to which all messages are indexed now; null when another worker is doing it
   */
  async indexNew(tenantId: string, size: number): Promise<{ until: string; isUnfinished: boolean } | null> {
    const before = this.settled.settledId;
    if (!before) return null;
    return this.inStep(tenantId, async (tx, progress) => {
      const { indexedUntil: after, stage } = progress;
      if (stage === 'CLEAR' || after >= before) return { until: after, isUnfinished: false };
      const rows = await this.index.listNewTexts(tx, tenantId, { after, before }, size);
      const { texts, isComplete, lastId } = split(rows);
      const isLast = isComplete && rows.length < size;
      const until = isLast ? before : lastId!;
      const { added, changed } = separate(texts);
      if (added.length > 0) {
        const numbered = added.map(({ id, conversationId, terms }, n) => ({
          messageId: id,
          conversationId,
          bucket: bucketOf(progress.newer + n),
          terms,
        }));
        await this.index.insertTexts(tx, tenantId, numbered);
      }
      if (changed.size > 0) await this.replace(tx, tenantId, changed, progress);
      const newer = progress.newer + added.length;
      await this.index.save(tx, tenantId, { ...progress, indexedUntil: until, newer });
      tx.onCommit(() => this.count(texts));
      return { until, isUnfinished: !isLast };
    });
  }

  /**
   * Makes a step towards the messages that were there before the index.
   * @returns whether there are more; null when another worker is doing it
   */
  async indexOld(tenantId: string, size: number): Promise<boolean | null> {
    return this.inStep(tenantId, async (tx, progress) => {
      const next = await this.makeOldStep(tx, tenantId, progress, size);
      if (next !== progress) await this.index.save(tx, tenantId, next);
      return next.stage !== 'DONE';
    });
  }

  /** Replaces the words of changed messages, by the ids of the messages. */
  private async replace(
    tx: Transaction,
    tenantId: string,
    changed: Map<string, SplitText>,
    progress: IndexProgress,
  ): Promise<void> {
    const buckets = await this.index.findBuckets(tx, tenantId, [...changed.keys()], progress);
    const texts = [...buckets].map(([messageId, bucket]) => {
      const { conversationId, terms } = changed.get(messageId)!;
      return { messageId, conversationId, bucket, terms };
    });
    if (texts.length > 0) await this.index.replaceTexts(tx, tenantId, texts);
  }

  private count(texts: { id: string }[]): void {
    this.metrics.searchIndexed.inc(texts.length);
    for (const { id } of texts) this.metrics.searchLag.observe((Date.now() - idTime(id).getTime()) / 1000);
  }

  /** Runs a step under the lock of the workspace's index; null when another worker has the lock. */
  private async inStep<T>(
    tenantId: string,
    step: (tx: Transaction, progress: IndexProgress) => Promise<T>,
  ): Promise<T | null> {
    return this.database.queueTransaction(async (tx) => {
      const progress = await this.index.lock(tx, tenantId);
      if (progress) return step(tx, progress);
      const firstId = this.settled.settledId;
      // The row commits before any text is read: from then on an erasure waits for its lock.
      if (firstId && !(await this.index.hasBegun(tx, tenantId)))
        await this.index.startIndex(tx, tenantId, firstId);
      return null;
    });
  }

  private async makeOldStep(
    tx: Transaction,
    tenantId: string,
    progress: IndexProgress,
    size: number,
  ): Promise<IndexProgress> {
    if (progress.stage === 'CLEAR') return this.clear(tx, tenantId, progress, size * KEYS_PER_TEXT);
    if (progress.stage === 'LIST') return this.listKeys(tx, tenantId, progress, size * KEYS_PER_TEXT);
    if (progress.stage === 'FILL') return this.fill(tx, tenantId, progress, size);
    return progress;
  }

  private async clear(
    tx: Transaction,
    tenantId: string,
    progress: IndexProgress,
    count: number,
  ): Promise<IndexProgress> {
    const firstId = this.settled.settledId;
    if (!firstId || (await this.index.deleteSome(tx, tenantId, count))) return progress;
    const atStart = { positionConversation: HIGHEST_ID, positionMessage: HIGHEST_ID };
    return { firstId, indexedUntil: firstId, newer: 0, older: 0, stage: 'LIST', ...atStart };
  }

  private async listKeys(
    tx: Transaction,
    tenantId: string,
    progress: IndexProgress,
    count: number,
  ): Promise<IndexProgress> {
    const { firstId, positionConversation: conversationId, positionMessage: id } = progress;
    const rows = await this.index.listMessages(tx, tenantId, { conversationId, id }, count);
    const old = rows.filter((row) => row.hasBody && row.id < firstId);
    if (old.length > 0) await this.index.insertKeys(tx, tenantId, old);
    const last = rows.at(-1);
    if (rows.length < count || !last) return { ...progress, stage: 'FILL', positionMessage: firstId };
    return { ...progress, positionConversation: last.conversationId, positionMessage: last.id };
  }

  private async fill(
    tx: Transaction,
    tenantId: string,
    progress: IndexProgress,
    count: number,
  ): Promise<IndexProgress> {
    const rows = await this.index.listOldTexts(tx, tenantId, progress.positionMessage, count);
    const { texts, isComplete, lastId } = split(rows);
    if (texts.length > 0) {
      const numbered = texts.map(({ id, conversationId, terms }, n) => ({
        messageId: id,
        conversationId,
        bucket: bucketOf(-1 - progress.older - n),
        terms,
      }));
      await this.index.fillTexts(tx, tenantId, numbered);
      tx.onCommit(() => this.metrics.searchIndexed.inc(texts.length));
    }
    const isLast = isComplete && rows.length < count;
    return {
      ...progress,
      older: progress.older + texts.length,
      stage: isLast ? 'DONE' : 'FILL',
      positionMessage: lastId ?? progress.positionMessage,
    };
  }
}

/** Splits the texts of a step, up to the number of terms that a step may have. */
function split(rows: PendingText[]): Split {
  const texts: Split['texts'] = [];
  let count = 0;
  let lastId: string | undefined;
  for (const row of rows) {
    if (count >= MAX_TERMS) return { texts, isComplete: false, lastId };
    lastId = row.id;
    if (!row.body) continue;
    const terms = termsOfText(row.body);
    count += terms.size;
    if (terms.size > 0) texts.push({ ...row, terms });
  }
  return { texts, isComplete: true, lastId };
}

/** Separates new messages from changed ones. What changed in the step in which it was new is new. */
function separate(texts: SplitText[]): { added: SplitText[]; changed: Map<string, SplitText> } {
  const changed = new Map<string, SplitText>();
  for (const text of texts) if (text.changedId !== null) changed.set(text.changedId, text);
  const added = texts
    .filter(({ changedId }) => changedId === null)
    .map((text) => ({ ...text, terms: changed.get(text.id)?.terms ?? text.terms }));
  for (const { id } of added) changed.delete(id);
  return { added, changed };
}
