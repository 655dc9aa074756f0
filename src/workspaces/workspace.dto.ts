import { OmitType } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { validatorFault } from '../common/error-texts';
import { IsMoment, IsNullable, IsText } from '../common/validators';
import { type Entitlement, ENTITLEMENTS } from '../access/permissions';
import { PLAN_TIERS, type PlanTier } from './plan-policy';

const MAX_RETENTION_DAYS = 36_500;

/** Changes of a workspace. A field that is left out does not change. */
export class UpdateWorkspace {
  @IsOptional()
  @IsIn(PLAN_TIERS)
  planTier?: PlanTier;

  /** End of the trial. On the TRIAL plan it is 14 days after the creation by default. */
  @IsOptional()
  @IsMoment()
  trialEndsAt?: Date;

  /** Requests a minute per path; null for the default of 240. */
  @IsNullable()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  rateLimit?: number | null;

  /** Days after which messages are erased; null for never. A change takes effect in the next night. */
  @IsNullable()
  @IsInt()
  @Min(1)
  @Max(MAX_RETENTION_DAYS)
  messageRetentionDays?: number | null;

  /** Entitlements in addition to those that the plan includes. */
  @IsOptional()
  @IsIn(ENTITLEMENTS, { each: true })
  entitlements?: Entitlement[];
}

export class CreateWorkspace extends OmitType(UpdateWorkspace, ['planTier']) {
  @IsText(200)
  name: string;

  /** Lower-case letters, digits and hyphens; unique among all workspaces. */
  @Matches(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, validatorFault('not_slug'))
  slug: string;

  @IsIn(PLAN_TIERS)
  planTier: PlanTier;
}
