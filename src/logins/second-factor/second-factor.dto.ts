import { IsToken, IsTyped } from '../people/typed-input';

export class BeginSecondFactor {
  @IsTyped()
  password: string;
}

export class ConfirmNewSecondFactor {
  /** Six digits of the app. */
  @IsToken()
  code: string;
}

export class PasswordAndCode {
  @IsTyped()
  password: string;

  /** Six digits of the app, or a recovery code. */
  @IsToken()
  code: string;
}

/** A second factor that counts for nothing until it is confirmed with one of its codes. */
export interface NewSecondFactor {
  /** The secret in base32, to be typed into an app. */
  secret: string;
  /** The secret as `otpauth://…`, to be shown as a QR code. */
  uri: string;
}

/** Ten codes, each good once in the place of a code of the app. They can't be read again. */
export interface RecoveryCodes {
  recoveryCodes: string[];
}
