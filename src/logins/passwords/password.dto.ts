import { IsEmailAddress } from '../../common/validators';
import { IsTyped } from '../people/typed-input';

export class ChangePassword {
  @IsTyped()
  currentPassword: string;

  /** New password of 12 to 200 characters. */
  @IsTyped()
  newPassword: string;
}

export class ConfirmPassword {
  @IsTyped()
  password: string;
}

export class RequestPasswordReset {
  @IsEmailAddress()
  email: string;
}
