import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { AppError } from './app-error';
import { validatorFault } from './error-texts';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;
const LIMIT_FAULT = validatorFault('not_limit', { max: MAX_LIMIT });

export class PageQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'The maximum number of rows.',
  })
  @IsOptional()
  @Transform(
    ({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value) as unknown,
  )
  @IsInt(LIMIT_FAULT)
  @Min(1, LIMIT_FAULT)
  @Max(MAX_LIMIT, LIMIT_FAULT)
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The `nextCursor` of the previous page.',
  })
  @IsOptional()
  @IsUUID('loose', { message: 'must be the nextCursor of an earlier page: leave it out for the first page' })
  cursor?: string;
}

/**
 * Checks the limit of a list that has only one page.
 * @throws AppError INVALID_QUERY unless it is a whole number from 1 to 200
 */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return;
  const { message, context } = LIMIT_FAULT;
  throw new AppError('INVALID_QUERY', `limit ${message}.`, [{ field: 'limit', message, ...context }]);
}

/** One page of a list. `nextCursor` is the cursor of the next page, or null on the last page. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** Makes a page of the first `limit` rows. One further row shows that there is a next page. */
export function toPage<Row extends { id: string }, T>(
  rows: Row[],
  limit: number,
  map: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  return { data: shown.map(map), nextCursor: rows.length > limit ? shown.at(-1)!.id : null };
}
