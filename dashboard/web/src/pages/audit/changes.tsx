import { Stack, Text } from '@mantine/core';
import type { AuditEntry } from '../../api/types';
import { useAuditTexts } from './audit-texts';

const MAX_LENGTH = 80;

/** Shows changed values before and after, one field a line. A creation shows only fields that are set. */
export function Changes({ entry: { before, after } }: { entry: Pick<AuditEntry, 'before' | 'after'> }) {
  const audit = useAuditTexts();
  const named = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = named.filter((field) => before !== null || after?.[field] !== null);
  if (fields.length === 0) return <Text c="dimmed">–</Text>;
  return (
    <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {fields.map((field) => (
        <Text key={field} size="sm" component="li" className="breakable">
          <Text span c="dimmed" inherit>
            {field}:{' '}
          </Text>
          {before && field in before && <del aria-label={audit.before}>{show(before[field])}</del>}{' '}
          {after && field in after && <span>{show(after[field])}</span>}
        </Text>
      ))}
    </Stack>
  );
}

function show(value: unknown): string {
  if (value === null) return '–';
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
