/** A webhook that a receiver received. */
export interface Arrival {
  /** Its name in `receivers.ts`. */
  receiver: string;
  deliveryId: string;
  messageId: string;
}

interface Acceptance extends Arrival {
  at: number;
}

/** Messages promised to clients, and deliveries accepted by receivers. Both must agree in the end. */
export class Ledger {
  /** Messages answered with 201, by id. */
  readonly promised = new Map<string, { workspaceId: string; at: number }>();
  /** Deliveries answered with 2xx, in the order of their answers. */
  readonly accepted: Acceptance[] = [];
  arrivals = 0;
  /** Deliveries that arrived again after a 2xx response. */
  duplicates = 0;
  private readonly acceptedDeliveries = new Set<string>();
  private readonly acceptedMessages = new Set<string>();

  promise(messageId: string, workspaceId: string): void {
    this.promised.set(messageId, { workspaceId, at: Date.now() });
  }

  arrive({ deliveryId }: Arrival): void {
    this.arrivals += 1;
    if (this.acceptedDeliveries.has(deliveryId)) this.duplicates += 1;
  }

  accept(arrival: Arrival): void {
    this.acceptedDeliveries.add(arrival.deliveryId);
    this.acceptedMessages.add(`${arrival.receiver} ${arrival.messageId}`);
    this.accepted.push({ ...arrival, at: Date.now() });
  }

  hasReached(receiver: string, messageId: string): boolean {
    return this.acceptedMessages.has(`${receiver} ${messageId}`);
  }

  /** When a receiver first accepted a message promised after a moment. */
  firstNewDelivery(receiver: string, after: number): number | undefined {
    const isNew = ({ messageId }: Arrival) => (this.promised.get(messageId)?.at ?? 0) > after;
    return this.accepted.find(
      (arrival) => arrival.receiver === receiver && arrival.at > after && isNew(arrival),
    )?.at;
  }

  /** Messages promised until a moment that at least one of these receivers did not accept. */
  missing(receivers: readonly string[], until = Infinity): string[] {
    return [...this.promised]
      .filter(([, { at }]) => at <= until)
      .flatMap(([messageId]) => receivers.filter((receiver) => !this.hasReached(receiver, messageId)));
  }
}
