import { UpdateWorkspace } from 'conversation-messaging-service';
import { IsNullable } from 'conversation-messaging-service/http';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';

const MAX_RETENTION_DAYS = 36_500;

/** Settings that people can change. Only an operator can change plan, trial, rate limit and entitlements. */
export class UpdateWorkspaceSettings implements Pick<UpdateWorkspace, 'messageRetentionDays'> {
  /** Days after which messages are erased; null if they are never erased. */
  @IsNullable()
  @IsInt()
  @Min(1)
  @Max(MAX_RETENTION_DAYS)
  messageRetentionDays?: number | null;

  /** Person's password. Required if `messageRetentionDays` is a number, because erasing is final. */
  @IsOptional()
  @IsString()
  password?: string;
}
