import { Matches, ValidateBy, ValidationOptions } from 'class-validator';
import { FAULTS } from '../../common/fault-texts';
import { FaultCode, validatorFault, ValuesOf } from '../../common/error-texts';

/**
 * Requires a string of 1 to `max` characters. All characters are allowed, because providers may change the
 * form of their secrets.
 */
export function CredentialText(max: number): PropertyDecorator {
  return ValidateBy(
    {
      name: 'credentialText',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && value !== '' && value.length <= max,
      },
    },
    faultUnlessEmpty('bad_credential', { max }),
  );
}

/**
 * Requires an id of 1 to 30 digits, the form of Meta's ids.
 *
 * @param owner owner of the id for the error message, such as `a page`
 */
export function NumericId(owner: string): PropertyDecorator {
  return Matches(/^\d{1,30}$/, faultUnlessEmpty('not_id', { owner }));
}

/**
 * Returns the options of a validator whose fault is `empty` for an empty string and `code` for any other
 * value.
 */
export function faultUnlessEmpty<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): ValidationOptions {
  const { message, context } = validatorFault(code, ...values);
  return { message: ({ value }) => (value === '' ? FAULTS.empty : message), context };
}
