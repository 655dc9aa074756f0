import { Injectable } from '@nestjs/common';
import { idTime, LOWEST_ID } from '../common/ids';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { MessageIndexRepository, PendingText } from './message-index.repository';
import { termsOfText } from './search-phrases';
import { SettledTime } from './settled-time';
import { bucketOf } from './term-keys';

/** Number of terms after which a step ends, so that it takes a bounded time. Its last text may exceed it. */
const MAX_TERMS = 5_000;

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
    private readonly index: MessageIndexRepository,
    private readonly settled: SettledTime,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Indexes up to `size` messages of a workspace.
   * @returns the id up to which all messages are indexed now; null when another worker is doing it
   */
  async indexNext(
    tx: Transaction,
    tenantId: string,
    size: number,
  ): Promise<{ until: string; isUnfinished: boolean } | null> {
    const before = this.settled.settledId;
    if (!before) return null;
    const progress = await this.index.lock(tx, tenantId);
    if (!progress) return this.begin(tx, tenantId);
    const { indexedUntil: after } = progress;
    if (after >= before) return { until: after, isUnfinished: false };
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
    if (changed.size > 0) await this.replace(tx, tenantId, changed);
    const newer = progress.newer + added.length;
    await this.index.save(tx, tenantId, { indexedUntil: until, newer });
    tx.onCommit(() => this.count(texts));
    return { until, isUnfinished: !isLast };
  }

  /**
   * Begins the index of a workspace, unless another worker has its row locked. The row commits before any
   * text is read: from then on an erasure waits for its lock.
   */
  private async begin(
    tx: Transaction,
    tenantId: string,
  ): Promise<{ until: string; isUnfinished: true } | null> {
    if (await this.index.hasBegun(tx, tenantId)) return null;
    await this.index.startIndex(tx, tenantId);
    return { until: LOWEST_ID, isUnfinished: true };
  }

  /** Replaces the words of changed messages, by the ids of the messages. */
  private async replace(tx: Transaction, tenantId: string, changed: Map<string, SplitText>): Promise<void> {
    const buckets = await this.index.findBuckets(tx, tenantId, [...changed.keys()]);
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

/**
 * Separates new messages from changed ones. A message that changed in the step in which it was new is new.
 */
function separate(texts: SplitText[]): { added: SplitText[]; changed: Map<string, SplitText> } {
  const changed = new Map<string, SplitText>();
  for (const text of texts) if (text.changedId !== null) changed.set(text.changedId, text);
  const added = texts
    .filter(({ changedId }) => changedId === null)
    .map((text) => ({ ...text, terms: changed.get(text.id)?.terms ?? text.terms }));
  for (const { id } of added) changed.delete(id);
  return { added, changed };
}
