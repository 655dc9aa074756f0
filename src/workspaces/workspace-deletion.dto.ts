import { IsInt, IsOptional, Max, Min } from 'class-validator';

export const DEFAULT_GRACE_DAYS = 30;

export class DeleteWorkspace {
  /** Days until the rows are deleted, 30 by default. Until then the deletion can be cancelled. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(365)
  graceDays?: number;
}

export interface WorkspaceDeletion {
  workspaceId: string;
  slug: string;
  /** `scheduled`: the deletion can still be cancelled; `running`: rows are being deleted. */
  status: 'scheduled' | 'running';
  requestedAt: Date;
  /** Time at which the deletion of rows begins. */
  dueAt: Date;
  /** Time at which the deletion of rows began; null before. */
  startedAt: Date | null;
  deletedRows: number;
  /** Table whose rows are deleted next; null before the first table. */
  table: string | null;
}
