import { UpdateWorkspace } from 'conversation-messaging-service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

const MAX_RETENTION_DAYS = 36_500;

/** What a workspace changes itself. The rest is the operator's: plan, trial, rate limit, entitlements. */
export class UpdateWorkspaceSettings implements Pick<UpdateWorkspace, 'messageRetentionDays'> {
  /** Null keeps messages for ever. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_RETENTION_DAYS)
  messageRetentionDays?: number | null;
}
