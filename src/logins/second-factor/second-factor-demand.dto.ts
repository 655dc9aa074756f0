import { IsInt, IsOptional, Max, Min } from 'class-validator';

const MAX_GRACE_DAYS = 90;
export const DEFAULT_GRACE_DAYS = 7;

export class DemandSecondFactor {
  /**
   * Days for which a person without a second factor keeps access, 7 by default. They begin with the demand,
   * or when the person joins later.
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_DAYS)
  graceDays?: number;
}

/** Demand of a workspace that its people have a second factor. */
export interface SecondFactorDemand {
  graceDays: number;
  demandedAt: Date;
}
