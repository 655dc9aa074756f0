import { ValidateBy } from 'class-validator';
import { validatorFault } from './error-texts';

/**
 * Reports whether an e-mail address has no letter that looks like another one, such as the sign for kelvin:
 * in lower case it is `k`, so the address would be that of somebody else.
 */
export function isPlainEmail(email: unknown): boolean {
  return typeof email === 'string' && email.normalize('NFKC') === email;
}

export function IsPlainEmail(): PropertyDecorator {
  const options = validatorFault('email_not_plain');
  return ValidateBy({ name: 'isPlainEmail', validator: { validate: isPlainEmail } }, options);
}
