import { IsInt, IsOptional, Max, Min } from 'class-validator';

export const DEFAULT_GRACE_DAYS = 30;

export class DeleteWorkspace {
  /** Until the rows go; 30 by default. Meanwhile the deletion can be cancelled. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(365)
  graceDays?: number;
}

/** The deletion of a workspace, until nothing of it is left. */
export interface WorkspaceDeletion {
  workspaceId: string;
  slug: string;
  /** `scheduled` can be cancelled; `running` deletes rows. */
  status: 'scheduled' | 'running';
  requestedAt: Date;
  /** When the rows begin to go. */
  dueAt: Date;
  /** When they did; null before. */
  startedAt: Date | null;
  deletedRows: number;
  /** Whose rows are going now; null before the first. */
  table: string | null;
}
