import { Card, Skeleton, Stack, Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n/locale';
import classes from './data-table.module.css';
import { ErrorNotice } from './error-notice';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Whether the column has only buttons. Its header is then shown to screen readers alone. */
  isActions?: boolean;
}

interface Loaded<Row> {
  data: { data: Row[] } | undefined;
  error: unknown;
  refetch: () => unknown;
}

/**
 * Shows the rows of a query, a skeleton while they load, `empty` if there are none, or the error. The ARIA
 * roles are explicit, because browsers drop the roles of a table that CSS lays out as cards.
 */
export function DataTable<Row>({
  name,
  query,
  columns,
  rowKey,
  empty,
}: {
  name: string;
  query: Loaded<Row>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  empty: ReactNode;
}) {
  const rows = query.data?.data;
  const fault = query.error ? <ErrorNotice error={query.error} onRetry={() => void query.refetch()} /> : null;
  if (!rows) return fault ?? <TableSkeleton />;
  return (
    <Stack>
      {fault}
      {rows.length === 0 ? (
        <Card withBorder className={classes.card}>
          {empty}
        </Card>
      ) : (
        <Card withBorder padding={0} className={classes.card}>
          <Table className={classes.table} role="table" aria-label={name}>
            <Table.Thead role="rowgroup">
              <Table.Tr role="row">
                {columns.map(({ header, isActions }) => (
                  <Table.Th key={header} role="columnheader" scope="col">
                    {isActions ? <VisuallyHidden>{header}</VisuallyHidden> : header}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody role="rowgroup">
              {rows.map((row) => (
                <Table.Tr key={rowKey(row)} role="row">
                  {columns.map(({ header, cell, isActions }) => (
                    <Table.Td
                      key={header}
                      role="cell"
                      data-label={header}
                      className={isActions ? classes.actions : undefined}
                    >
                      <div className="breakable">{cell(row)}</div>
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Card>
      )}
    </Stack>
  );
}

export function TableSkeleton() {
  const texts = useTexts();
  return (
    <Card
      withBorder
      className={classes.card}
      aria-busy="true"
      aria-label={texts.common.loading}
      role="status"
    >
      <Stack>
        {[1, 2, 3, 4].map((row) => (
          <Skeleton key={row} height={20} />
        ))}
      </Stack>
    </Card>
  );
}
