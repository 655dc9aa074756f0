import { IsToken, IsTyped } from '../people/typed-input';

export class BeginSecondFactor {
  @IsTyped()
  password: string;
}

export class ConfirmNewSecondFactor {
  /** Six digits that the app shows. */
  @IsToken()
  code: string;
}

export class PasswordAndCode {
  @IsTyped()
  password: string;

  /** Six digits that the app shows, or a recovery code. */
  @IsToken()
  code: string;
}

/** Second factor that has no effect until it is confirmed with one of its codes. */
export interface NewSecondFactor {
  /** Secret in base32, to be typed into an app. */
  secret: string;
  /** Secret as `otpauth://…`, to be shown as a QR code. */
  uri: string;
}

/** Ten codes, each of which replaces a code of the app once. They can't be read again. */
export interface RecoveryCodes {
  recoveryCodes: string[];
}
