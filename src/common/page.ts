import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

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
  @IsInt({ message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  @Min(1, { message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  @Max(MAX_LIMIT, { message: `must be a whole number from 1 to ${MAX_LIMIT}` })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The `nextCursor` of the previous page.',
  })
  @IsOptional()
  @IsUUID('loose', { message: 'must be the nextCursor of an earlier page' })
  cursor?: string;
}

/** `nextCursor` starts the next page; null on the last one. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** Takes up to `limit + 1` rows: the extra row only shows that more follow. */
export function toPage<Row extends { id: string }, T>(
  rows: Row[],
  limit: number,
  map: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  return { data: shown.map(map), nextCursor: rows.length > limit ? shown.at(-1)!.id : null };
}
