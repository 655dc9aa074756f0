import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { PageQuery } from '../common/page';
import { alertCatalog, AlertKind, AlertSubject } from './alert-kinds';

export class ListAlertsQuery extends PageQuery {
  /** Whether the list has only open alerts, or only resolved ones; both if left out. */
  @IsOptional()
  @Transform(({ value }) => ({ true: true, false: false })[String(value)] ?? (value as unknown))
  @IsBoolean()
  open?: boolean;
}

export interface AlertRow {
  id: string;
  kind: AlertKind;
  subjectId: string;
  openedAt: Date;
  resolvedAt: Date | null;
  /** Time at which the mail server took the first mail about the alert; null before. */
  toldAt: Date | null;
}

export interface AlertResponse extends AlertRow {
  subjectType: AlertSubject;
}

export function toAlertResponse(alert: AlertRow): AlertResponse {
  return { ...alert, subjectType: alertCatalog[alert.kind].subject };
}
