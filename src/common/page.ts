import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** Where a page starts and how long it is. */
export class PageQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Rows of the page.',
  })
  @IsOptional()
  @Transform(
    ({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value) as unknown,
  )
  @IsInt({ message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  @Min(1, { message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  @Max(MAX_LIMIT, { message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The id of the last row of the page before: its `nextCursor`.',
  })
  @IsOptional()
  @IsUUID('loose', { message: 'must be the nextCursor of an earlier page' })
  cursor?: string;
}

/** One page of a list, and where the next one starts. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** Makes a page of rows that were read with `limit + 1`: the row too many only says that more follow. */
export function toPage<Row extends { id: string }, T>(
  rows: Row[],
  limit: number,
  map: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  return { data: shown.map(map), nextCursor: rows.length > limit ? shown.at(-1)!.id : null };
}
