import { ValidateBy, ValidationArguments } from 'class-validator';

/** Any text of 1 to `max` characters: providers may change the form of their secrets. */
export function CredentialText(max: number): PropertyDecorator {
  return ValidateBy({
    name: 'credentialText',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && value !== '' && value.length <= max,
      defaultMessage: (args) => unlessEmpty(`must be text of at most ${max} characters`)(args!),
    },
  });
}

/** A validation message that names an empty value as empty. */
export function unlessEmpty(fault: string): (args: ValidationArguments) => string {
  return ({ value }) => (value === '' ? 'must not be empty' : fault);
}
