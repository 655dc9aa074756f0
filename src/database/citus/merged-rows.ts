import { SearchOptions } from '../placement/placement';

type Merging<Row> = Pick<SearchOptions<Row>, 'order' | 'limit'>;

/** Sorts rows from several shards or nodes by the order of their search, and keeps as many as its limit. */
export function merged<Row>(rows: Row[], { order, limit = Infinity }: Merging<Row>): Row[] {
  const ranked = rows.map((row) => ({ row, rank: order(row) }));
  ranked.sort((a, b) => compare(a.rank, b.rank));
  return ranked.slice(0, limit).map(({ row }) => row);
}

function compare(a: ReturnType<Merging<object>['order']>, b: typeof a): number {
  for (const [n, value] of a.entries()) {
    const other = b[n]!;
    if (value! < other) return -1;
    if (value! > other) return 1;
  }
  return 0;
}
