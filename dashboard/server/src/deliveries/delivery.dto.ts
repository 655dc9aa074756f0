import type { RedeliverMatching } from 'conversation-messaging-service';
import { IsOpaque } from 'conversation-messaging-service/http';
import { IsBoolean, IsObject, IsOptional } from 'class-validator';

/** Body for redelivering an endpoint's deliveries that match a filter. The service validates `filter`. */
export class RedeliverMatchingBody {
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  filter: Partial<Omit<RedeliverMatching, 'endpointId'>>;

  /** Whether the service only counts the deliveries and redelivers none. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

export function toMatching(filter: RedeliverMatchingBody['filter'], endpointId: string): RedeliverMatching {
  return { ...filter, endpointId };
}
