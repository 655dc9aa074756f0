import { Promised } from './ledger';

/**
 * Time after an endpoint's end in which an attempt that began before it may arrive: a second, and the
 * transport.
 */
const GRACE_MS = 2_000;

interface Change {
  /** Kind of change: created or activated; deactivated or deleted; a recovery of all since its creation. */
  kind: 'opened' | 'closed' | 'recovered';
  askedAt: number;
  answeredAt: number;
}

/**
 * An endpoint of a neighbour, with the changes that were made to it: they decide which messages it must get
 * and which it may not get.
 */
export class NeighbourEndpoint {
  /** Id of the endpoint, once it is registered. */
  id = '';
  private readonly changes: Change[] = [];

  /**
   * Makes an endpoint that is not registered yet.
   * @param name name of the endpoint in the ledger
   */
  constructor(readonly name: string) {}

  /**
   * Makes a change, and records when it was requested and answered.
   * @returns the milliseconds it took
   */
  async change(kind: Change['kind'], act: () => Promise<unknown>): Promise<number> {
    const askedAt = Date.now();
    await act();
    const answeredAt = Date.now();
    this.changes.push({ kind, askedAt, answeredAt });
    return answeredAt - askedAt;
  }

  /** True if no delivery to this endpoint was ever cancelled. */
  get wasAlwaysOpen(): boolean {
    return this.changes.every(({ kind }) => kind !== 'closed');
  }

  /**
   * Reports whether the endpoint must get a message. Messages that were sent during a change are not judged.
   */
  mustGet(message: Promised): boolean {
    const closed = this.changes.findLastIndex(({ kind }) => kind === 'closed');
    return this.changes.slice(closed + 1).some(({ kind, askedAt, answeredAt }) => {
      if (kind === 'recovered') return message.at < askedAt && message.askedAt > this.changes[0]!.answeredAt;
      return message.askedAt > answeredAt;
    });
  }

  /**
   * Returns the reason why a message may not arrive at a moment; null when it may.
   * @param message undefined when its request was not answered with 201
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
