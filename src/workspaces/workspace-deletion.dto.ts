import { IsInt, IsOptional, Max, Min } from 'class-validator';

export const DEFAULT_GRACE_DAYS = 30;

export class DeleteWorkspace {
  /** Days until the rows are deleted; 30 by default. Until then the deletion can be cancelled. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(365)
  graceDays?: number;
}

/** The deletion of a workspace, until nothing of the workspace is left. */
export interface WorkspaceDeletion {
  workspaceId: string;
  slug: string;
  /** `scheduled` can be cancelled; `running` deletes rows. */
  status: 'scheduled' | 'running';
  requestedAt: Date;
  /** Time at which deleting begins. */
  dueAt: Date;
  /** Time at which deleting began; null before. */
  startedAt: Date | null;
  deletedRows: number;
  /** Table whose rows are being deleted; null before the first. */
  table: string | null;
}
