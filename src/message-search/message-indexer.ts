import { Injectable } from '@nestjs/common';
import { idTime, LOWEST_ID } from '../common/ids';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { MessageIndexRepository, PendingText } from './message-index.repository';
import { termsOfText } from './search-phrases';
import { SettledTime } from './settled-time';
import { bucketOf } from './term-keys';

/**
 * Number of terms (words or characters) after which a step ends, so that its transaction takes a bounded
 * time. The last text of a step may exceed the number.
 */
const MAX_TERMS = 5_000;

type SplitText = PendingText & { terms: Set<string> };

interface Split {
  texts: SplitText[];
  /** Whether all given texts were split; false if MAX_TERMS was reached before. */
  isComplete: boolean;
  lastId: string | undefined;
}

/**
 * Fills the search index of a workspace in small steps. Each step is a transaction that locks the workspace's
 * index, so that rows and progress commit together. After a worker is killed, another one continues. An
 * erasure waits for the lock too, so that no step can add an erased text.
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
   * @returns the id up to which all messages are indexed, and whether more are left; null if another worker
   *   indexes the workspace now
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
   * Inserts the index's row for a workspace; returns null if another worker has locked it. The row must
   * commit before any text is read, because an erasure waits for the row's lock.
   */
  private async begin(
    tx: Transaction,
    tenantId: string,
  ): Promise<{ until: string; isUnfinished: true } | null> {
    if (await this.index.hasBegun(tx, tenantId)) return null;
    await this.index.startIndex(tx, tenantId);
    return { until: LOWEST_ID, isUnfinished: true };
  }

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

/** Separates new messages from changed ones. One that is both counts as new, with its changed text. */
function separate(texts: SplitText[]): { added: SplitText[]; changed: Map<string, SplitText> } {
  const changed = new Map<string, SplitText>();
  for (const text of texts) if (text.changedId !== null) changed.set(text.changedId, text);
  const added = texts
    .filter(({ changedId }) => changedId === null)
    .map((text) => ({ ...text, terms: changed.get(text.id)?.terms ?? text.terms }));
  for (const { id } of added) changed.delete(id);
  return { added, changed };
}
