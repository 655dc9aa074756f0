import { Table, Text } from '@mantine/core';
import { useTexts } from '../i18n/locale';

/** Shows a chart's values as a table that can be opened, for people who can't see the chart. */
export function ChartTable({
  name,
  columns,
  rows,
}: {
  name: string;
  columns: string[];
  rows: { key: string; cells: string[] }[];
}) {
  const texts = useTexts();
  return (
    <details>
      <Text component="summary" size="sm">
        {texts.timeline.asTable}
      </Text>
      <Table.ScrollContainer minWidth={0} mah={300} type="native">
        <Table aria-label={name} stickyHeader tabularNums>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column}>{column}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, cells }) => (
              <Table.Tr key={key}>
                {cells.map((cell, index) => (
                  <Table.Td key={columns[index]}>{cell}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}
