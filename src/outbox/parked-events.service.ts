import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { ParkedEvent, ParkedEventKey, ParkedEventsRepository } from './parked-events.repository';

const MAX_LISTED = 1_000;

/** Events that a consumer could not take in, for the operator. Nothing else waits for them but their conversation. */
@Injectable()
export class ParkedEventsService {
  constructor(private readonly parked: ParkedEventsRepository) {}

  /** Lists up to 1,000 parked events, oldest first; of all workspaces without a `tenantId`. */
  async list(tenantId?: string): Promise<ParkedEvent[]> {
    if (tenantId !== undefined && !isId(tenantId)) return [];
    return this.parked.list(MAX_LISTED, tenantId ?? null);
  }

  /**
   * Makes a worker give the event to its consumer again, within seconds, and to no other consumer.
   * @throws AppError NOT_FOUND
   */
  retry(key: ParkedEventKey): Promise<void> {
    return this.request(key, 'RETRY');
  }

  /**
   * Makes a worker drop the event for its consumer. An outbound message becomes FAILED, and its conversation goes on.
   * @throws AppError NOT_FOUND
   */
  giveUp(key: ParkedEventKey): Promise<void> {
    return this.request(key, 'GIVE_UP');
  }

  private async request(key: ParkedEventKey, request: 'RETRY' | 'GIVE_UP'): Promise<void> {
    const isKnown = isId(key.tenantId) && isId(key.eventId) && (await this.parked.request(key, request));
    if (!isKnown) throw AppError.notFound('Parked event');
  }
}
