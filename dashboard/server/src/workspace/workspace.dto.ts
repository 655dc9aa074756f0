import { UpdateWorkspace } from 'conversation-messaging-service';
import { IsNullable } from 'conversation-messaging-service/http';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';

const MAX_RETENTION_DAYS = 36_500;

/**
 * Settings that a workspace changes itself. Only an operator changes plan, trial, rate limit and
 * entitlements.
 */
export class UpdateWorkspaceSettings implements Pick<UpdateWorkspace, 'messageRetentionDays'> {
  /** Days after which messages are erased; null keeps them for ever. */
  @IsNullable()
  @IsInt()
  @Min(1)
  @Max(MAX_RETENTION_DAYS)
  messageRetentionDays?: number | null;

  /** The person's password, which a number of days takes, because messages are erased for ever. */
  @IsOptional()
  @IsString()
  password?: string;
}
