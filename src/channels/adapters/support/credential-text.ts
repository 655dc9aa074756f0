import { Matches, ValidateBy, ValidationArguments } from 'class-validator';

/** Accepts any text of 1 to `max` characters, because providers may change the form of their secrets. */
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
 * Accepts an id that is all digits, as Meta's are.
 * @param owner what has the id, such as `a page`
 */
export function NumericId(owner: string): PropertyDecorator {
  return Matches(/^\d{1,30}$/, { message: unlessEmpty(`must be the id of ${owner}: digits`) });
}

/** Returns a validation message that calls an empty value empty, and states the fault of any other. */
export function unlessEmpty(fault: string): (args: ValidationArguments) => string {
  return ({ value }) => (value === '' ? 'must not be empty' : fault);
}
