import { applyDecorators } from '@nestjs/common';
import { IsString } from 'class-validator';
import { MaxCharacters } from '../../common/validators';

const MAX_TOKEN = 200;
const MAX_TYPED = 1_000;

/** Requires a string of at most 200 characters, more than any token or code has. */
export function IsToken(): PropertyDecorator {
  return applyDecorators(MaxCharacters(MAX_TOKEN), IsString());
}

/** Requires a string of at most 1,000 characters, more than any e-mail address or password has. */
export function IsTyped(): PropertyDecorator {
  return applyDecorators(MaxCharacters(MAX_TYPED), IsString());
}
