import { Sent } from './client';

/** A webhook that arrived at a receiver. */
export interface Arrival {
  /** Name of the receiver in `receivers.ts`, or of a neighbour's endpoint. */
  receiver: string;
  deliveryId: string;
  messageId: string;
}

interface Acceptance extends Arrival {
  at: number;
}

export interface Promised {
  askedAt: number;
  /** Time of the answer of 201. */
  at: number;
}

/** Messages promised to clients, and deliveries accepted by receivers. Both must agree in the end. */
export class Ledger {
  /** Messages answered with 201, by id. */
  readonly promised = new Map<string, Promised>();
  /** Deliveries answered with 2xx, in the order of their answers. */
  readonly accepted: Acceptance[] = [];
  arrivals = 0;
  /** Number of deliveries that arrived again after a 2xx response. */
  duplicates = 0;
  private readonly acceptedDeliveries = new Set<string>();
  /** Times at which a receiver first accepted a message, by receiver and message. */
  private readonly reachedAt = new Map<string, number>();

  promise({ messageId, askedAt }: Sent): void {
    this.promised.set(messageId, { askedAt, at: Date.now() });
  }

  arrive({ deliveryId }: Arrival): void {
    this.arrivals += 1;
    if (this.acceptedDeliveries.has(deliveryId)) this.duplicates += 1;
  }

  accept(arrival: Arrival): void {
    const at = Date.now();
    const key = keyOf(arrival.receiver, arrival.messageId);
    this.acceptedDeliveries.add(arrival.deliveryId);
    if (!this.reachedAt.has(key)) this.reachedAt.set(key, at);
    this.accepted.push({ ...arrival, at });
  }

  hasReached(receiver: string, messageId: string): boolean {
    return this.reachedAt.has(keyOf(receiver, messageId));
  }

  /** Returns the time at which a receiver first accepted a message promised after a moment. */
  firstNewDelivery(receiver: string, after: number): number | undefined {
    const isNew = ({ messageId }: Arrival) => (this.promised.get(messageId)?.at ?? 0) > after;
    return this.accepted.find(
      (arrival) => arrival.receiver === receiver && arrival.at > after && isNew(arrival),
    )?.at;
  }

  /**
   * Returns the name of each of the receivers that lacks a message promised until a moment, once for each
   * message.
   */
  missing(receivers: readonly string[], until = Infinity): string[] {
    return [...this.promised]
      .filter(([, { at }]) => at <= until)
      .flatMap(([messageId]) => receivers.filter((receiver) => !this.hasReached(receiver, messageId)));
  }

  /**
   * Returns the times from promise to first acceptance, in ascending order, for the messages of a span that
   * the receiver has accepted.
   * @param since `askedAt` for the times from the first request
   */
  latencies(receiver: string, from: number, to: number, since: keyof Promised = 'at'): number[] {
    return [...this.promised]
      .filter(([, { at }]) => from <= at && at <= to)
      .flatMap(([messageId, message]) => {
        const reachedAt = this.reachedAt.get(keyOf(receiver, messageId));
        return reachedAt === undefined ? [] : Math.max(0, reachedAt - message[since]);
      })
      .sort((a, b) => a - b);
  }
}

function keyOf(receiver: string, messageId: string): string {
  return `${receiver} ${messageId}`;
}
