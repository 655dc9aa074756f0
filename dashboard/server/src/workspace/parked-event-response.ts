import type { ParkedEvent } from 'conversation-messaging-service';
import type { ParkedEventResponse } from '../api';

export function toParkedEvent({ tenantId: _, ...event }: ParkedEvent): ParkedEventResponse {
  return event;
}
