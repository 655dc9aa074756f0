import { UpdateWorkspace } from 'conversation-messaging-service';
import { IsNullable } from 'conversation-messaging-service/http';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';

const MAX_RETENTION_DAYS = 36_500;

/**
 * Settings that people of a workspace can change. Only an operator can change the plan, the trial, the rate
 * limit and the entitlements.
 */
export class UpdateWorkspaceSettings implements Pick<UpdateWorkspace, 'messageRetentionDays'> {
  /** Days after which messages are erased; null if they are never erased. */
  @IsNullable()
  @IsInt()
  @Min(1)
  @Max(MAX_RETENTION_DAYS)
  messageRetentionDays?: number | null;

  /**
   * Password of the person. It is required if `messageRetentionDays` is a number, because messages are erased
   * for ever.
   */
  @IsOptional()
  @IsString()
  password?: string;
}
