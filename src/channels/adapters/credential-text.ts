import { Matches, ValidateBy, ValidationOptions } from 'class-validator';
import { FAULTS } from '../../common/fault-texts';
import { FaultCode, validatorFault, ValuesOf } from '../../common/error-texts';

/**
 * Requires a text of 1 to `max` characters of any kind, because providers may change the form of their
 * secrets.
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
 * Requires an id that is all digits, as Meta's are.
 * @param owner thing that the id names, such as `a page`
 */
export function NumericId(owner: string): PropertyDecorator {
  return Matches(/^\d{1,30}$/, faultUnlessEmpty('not_id', { owner }));
}

/** Makes the options of a validator. An empty value has the fault `empty`, and any other value `code`. */
export function faultUnlessEmpty<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): ValidationOptions {
  const { message, context } = validatorFault(code, ...values);
  return { message: ({ value }) => (value === '' ? FAULTS.empty : message), context };
}
