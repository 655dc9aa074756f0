/** A webhook as a receiver got it. */
export interface Arrival {
  /** Which of the workspace's receivers: see `receivers.ts`. */
  receiver: string;
  deliveryId: string;
  messageId: string;
}

interface Acceptance extends Arrival {
  at: number;
}

/** What was promised to clients and what reached receivers: the two sides that must agree in the end. */
export class Ledger {
  /** Messages answered with 201, by id. */
  readonly promised = new Map<string, { workspaceId: string; at: number }>();
  /** Deliveries answered with 2xx, in the order of their answers. */
  readonly accepted: Acceptance[] = [];
  arrivals = 0;
  /** Deliveries that came again although they had been answered with 2xx. */
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

  /** When a receiver first accepted a message that was promised after a moment. */
  firstNewDelivery(receiver: string, after: number): number | undefined {
    const isNew = ({ messageId }: Arrival) => (this.promised.get(messageId)?.at ?? 0) > after;
    return this.accepted.find(
      (arrival) => arrival.receiver === receiver && arrival.at > after && isNew(arrival),
    )?.at;
  }

  /** Messages promised until a moment that one of these receivers has not accepted. */
  missing(receivers: readonly string[], until = Infinity): string[] {
    return [...this.promised]
      .filter(([, { at }]) => at <= until)
      .flatMap(([messageId]) => receivers.filter((receiver) => !this.hasReached(receiver, messageId)));
  }
}
