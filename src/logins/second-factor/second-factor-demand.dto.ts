import { IsInt, IsOptional, Max, Min } from 'class-validator';

const MAX_GRACE_DAYS = 90;
export const DEFAULT_GRACE_DAYS = 7;

export class DemandSecondFactor {
  /** Days for which a person needs no second factor, after the demand or after joining later; default 7. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_DAYS)
  graceDays?: number;
}

export interface SecondFactorDemand {
  graceDays: number;
  demandedAt: Date;
}
