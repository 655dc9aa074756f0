import { ValidateBy, ValidationArguments } from 'class-validator';

/** A secret, or a name, as a provider gives it out: any text, though not none. */
export function CredentialText(max: number): PropertyDecorator {
  return ValidateBy({
    name: 'credentialText',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && value !== '' && value.length <= max,
      defaultMessage: (args) => unlessEmpty(`must be text of at most ${max} characters`)(args!),
    },
  });
}

/** What is wrong with a value that does not fit; of an empty one, that it is empty. */
export function unlessEmpty(fault: string): (args: ValidationArguments) => string {
  return ({ value }) => (value === '' ? 'must not be empty' : fault);
}
