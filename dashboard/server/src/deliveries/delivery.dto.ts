import type { RedeliverMatching } from 'conversation-messaging-service';
import { IsBoolean, IsObject, IsOptional } from 'class-validator';

/** The filter of the list, which the service checks, without its page. */
export class RedeliverMatchingBody {
  @IsObject({ message: 'must be an object' })
  filter: Partial<Omit<RedeliverMatching, 'endpointId'>>;

  /** Only counts the deliveries. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

/** The endpoint is that of the path. */
export function toMatching(filter: RedeliverMatchingBody['filter'], endpointId: string): RedeliverMatching {
  return { ...filter, endpointId };
}
