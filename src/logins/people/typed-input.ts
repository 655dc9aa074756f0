import { applyDecorators } from '@nestjs/common';
import { IsString } from 'class-validator';
import { MaxCharacters } from '../../common/validators';

/** Maximum length of a token or code, longer than any of them is. */
const MAX_TOKEN = 200;
/**
 * Maximum length of typed text, longer than any e-mail address or password. The policy says how long a
 * password may be.
 */
const MAX_TYPED = 1_000;

/** Requires a string that can be a token or a code. */
export function IsToken(): PropertyDecorator {
  return applyDecorators(MaxCharacters(MAX_TOKEN), IsString());
}

/** Requires a string that a person can have typed. */
export function IsTyped(): PropertyDecorator {
  return applyDecorators(MaxCharacters(MAX_TYPED), IsString());
}
