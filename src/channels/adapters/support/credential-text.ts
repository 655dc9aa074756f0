import { Matches, ValidateBy, ValidationArguments } from 'class-validator';

/**
 * Requires a text of 1 to `max` characters of any kind, because providers may change the form of their
 * secrets.
 */
export function CredentialText(max: number): PropertyDecorator {
  return ValidateBy({
    name: 'credentialText',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && value !== '' && value.length <= max,
      defaultMessage: (args) => unlessEmpty(`must be text of at most ${max} characters`)(args!),
    },
  });
}

/**
 * Requires an id that is all digits, as Meta's are.
 * @param owner what has the id, such as `a page`
 */
export function NumericId(owner: string): PropertyDecorator {
  return Matches(/^\d{1,30}$/, { message: unlessEmpty(`must be the id of ${owner}: digits`) });
}

/** Returns a validation message: `must not be empty` for an empty value, `fault` for any other. */
export function unlessEmpty(fault: string): (args: ValidationArguments) => string {
  return ({ value }) => (value === '' ? 'must not be empty' : fault);
}
