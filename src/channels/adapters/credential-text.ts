import { Matches, ValidateBy, ValidationOptions } from 'class-validator';
import { FAULTS } from '../../common/fault-texts';
import { FaultCode, validatorFault, ValuesOf } from '../../common/error-texts';

/** Requires 1 to `max` characters of any kind, because providers may change the form of their secrets. */
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
 * Requires an id of 1 to 30 digits, as Meta's ids are.
 * @param owner for the error message, such as `a page`
 */
export function NumericId(owner: string): PropertyDecorator {
  return Matches(/^\d{1,30}$/, faultUnlessEmpty('not_id', { owner }));
}

/** Returns options with which a validator reports `empty` for an empty string, otherwise `code`. */
export function faultUnlessEmpty<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): ValidationOptions {
  const { message, context } = validatorFault(code, ...values);
  return { message: ({ value }) => (value === '' ? FAULTS.empty : message), context };
}
