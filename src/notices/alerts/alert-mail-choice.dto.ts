import { ArrayUnique, IsArray, IsBoolean, IsIn, IsOptional } from 'class-validator';
import { ALERT_KINDS, AlertKind } from '../../alerts/alert-kinds';

/** Choice of mails about alerts of a workspace. An agent who has made none gets mails of all kinds. */
export interface AlertMailChoice {
  /** Whether the service sends mails at all. */
  isAvailable: boolean;
  isOn: boolean;
  mutedKinds: AlertKind[];
}

/** Input of `AlertMailChoicesService.update`. A field that is left out does not change. */
export class UpdateAlertMailChoice {
  @IsOptional()
  @IsBoolean()
  isOn?: boolean;

  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsIn(ALERT_KINDS, { each: true })
  mutedKinds?: AlertKind[];
}
