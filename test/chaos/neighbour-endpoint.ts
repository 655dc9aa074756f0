import { Promised } from './ledger';

/** An attempt that began before its endpoint was gone may arrive this much later: a second, and its way. */
const GRACE_MS = 2_000;

interface Change {
  /** Created or activated; deactivated or deleted; a recovery of everything before it. */
  kind: 'opened' | 'closed' | 'recovered';
  askedAt: number;
  answeredAt: number;
}

/**
 * An endpoint of a neighbour, and what was done to it: that decides what it must get and what it may not get.
 */
export class NeighbourEndpoint {
  /** Known once it is registered. */
  id = '';
  private readonly changes: Change[] = [];

  /** @param name its own in the ledger */
  constructor(readonly name: string) {}

  /** Runs a change, and keeps when it was asked for and answered. @returns the milliseconds it took */
  async change(kind: Change['kind'], act: () => Promise<unknown>): Promise<number> {
    const askedAt = Date.now();
    await act();
    const answeredAt = Date.now();
    this.changes.push({ kind, askedAt, answeredAt });
    return answeredAt - askedAt;
  }

  /** Reports whether nothing that it was owed was ever cancelled. */
  get wasAlwaysOpen(): boolean {
    return this.changes.every(({ kind }) => kind !== 'closed');
  }

  /** Messages that were sent during a change are not judged. */
  mustGet(message: Promised): boolean {
    const closed = this.changes.findLastIndex(({ kind }) => kind === 'closed');
    return this.changes.slice(closed + 1).some(({ kind, askedAt, answeredAt }) => {
      if (kind === 'recovered') return message.at < askedAt;
      return message.askedAt > answeredAt;
    });
  }

  /**
   * @param message undefined when its request was not answered with 201
   * @returns why a message may not arrive at a moment; null when it may
   */
  objection(message: Promised | undefined, at: number): string | null {
    const closed = this.changes.findLastIndex(
      ({ kind, answeredAt }) => kind === 'closed' && answeredAt + GRACE_MS < at,
    );
    if (closed === -1) return null;
    const later = this.changes.slice(closed + 1).filter(({ askedAt }) => askedAt <= at);
    if (later.length === 0) return `gone for ${at - this.changes[closed]!.answeredAt} ms`;
    const isOwed = later.some(({ kind, askedAt }) => kind === 'recovered' || (message?.at ?? at) > askedAt);
    return isOwed ? null : 'sent before the endpoint was reactivated';
  }
}
