import type { RedeliverMatching } from 'conversation-messaging-service';
import { IsOpaque } from 'conversation-messaging-service/http';
import { IsBoolean, IsObject, IsOptional } from 'class-validator';

/** Filter of the list of deliveries, without its limit and cursor. The service checks it. */
export class RedeliverMatchingBody {
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  filter: Partial<Omit<RedeliverMatching, 'endpointId'>>;

  /** True to count the deliveries without sending them. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

/** Adds the endpoint of the path to a filter. */
export function toMatching(filter: RedeliverMatchingBody['filter'], endpointId: string): RedeliverMatching {
  return { ...filter, endpointId };
}
