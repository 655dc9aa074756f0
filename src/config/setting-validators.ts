import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsInt, IsUrl, Max, Min } from 'class-validator';

/** Accepts a whole number that is given as text. */
export const IsWhole = (min: number, max: number) =>
  applyDecorators(
    Max(max),
    Min(min),
    IsInt(),
    Type(() => Number),
  );

/** Validator options for addresses over http or https, of hosts with or without a domain. */
export const HTTP_ADDRESS = { require_tld: false, protocols: ['http', 'https'], require_protocol: true };

/** Accepts an address over http or https. */
export const IsHttpAddress = () => IsUrl(HTTP_ADDRESS);
