import { IsToken, IsTyped } from '../people/typed-input';

export class BeginSecondFactor {
  @IsTyped()
  password: string;
}

export class ConfirmNewSecondFactor {
  /** Six digits from the person's authenticator app. */
  @IsToken()
  code: string;
}

export class PasswordAndCode {
  @IsTyped()
  password: string;

  /** Six digits from the person's authenticator app, or a recovery code. */
  @IsToken()
  code: string;
}

/** Second factor that has no effect until it is confirmed with one of its codes. */
export interface NewSecondFactor {
  /** Secret in base32, for typing into an authenticator app. */
  secret: string;
  /** `otpauth://` URI that contains the secret, for display as a QR code. */
  uri: string;
}

/** Ten codes, each of which replaces a code of the app once. They can't be read again. */
export interface RecoveryCodes {
  recoveryCodes: string[];
}
