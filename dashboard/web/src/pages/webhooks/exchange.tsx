import { Progress, Stack, Table, Text } from '@mantine/core';
import type { Phases, ReceivedBody } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { useFormats, useTexts } from '../../i18n/locale';

/** Shows how long each phase of an attempt took, and what the receiver answered. */
export function Exchange({
  phases,
  totalMs,
  response,
  responseHeaders,
}: {
  phases: Phases;
  totalMs: number;
  response: ReceivedBody | null;
  responseHeaders: string | null;
}) {
  return (
    <Stack>
      <PhaseBar phases={phases} totalMs={totalMs} />
      <Answer response={response} headers={responseHeaders} />
    </Stack>
  );
}

function PhaseBar({ phases, totalMs }: { phases: Phases; totalMs: number }) {
  const texts = useTexts();
  const formats = useFormats();
  const { lookupMs, connectMs, tlsMs, firstByteMs } = phases;
  const setUp = (lookupMs ?? 0) + (connectMs ?? 0) + (tlsMs ?? 0);
  const parts = [
    { name: texts.phases.lookup, ms: lookupMs, color: 'grape.8' },
    { name: texts.phases.connect, ms: connectMs, color: 'blue.8' },
    { name: texts.phases.tls, ms: tlsMs, color: 'teal.8' },
    {
      name: texts.phases.wait,
      ms: firstByteMs === null ? null : Math.max(0, firstByteMs - setUp),
      color: 'orange.8',
    },
    {
      name: texts.phases.body,
      ms: firstByteMs === null ? null : Math.max(0, totalMs - firstByteMs),
      color: 'gray.6',
    },
  ];
  const sum = parts.reduce((total, { ms }) => total + (ms ?? 0), 0) || 1;
  return (
    <div>
      <Progress.Root size="lg" aria-hidden>
        {parts.map(({ name, ms, color }) => (
          <Progress.Section key={name} value={((ms ?? 0) / sum) * 100} color={color} />
        ))}
      </Progress.Root>
      <Table
        variant="vertical"
        mt="xs"
        withRowBorders={false}
        verticalSpacing={2}
        aria-label={texts.phases.title}
      >
        <Table.Tbody>
          {parts.map(({ name, ms }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={220}>
                {name}
              </Table.Th>
              <Table.Td>{ms === null ? texts.phases.none : formats.milliseconds(ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Answer({ response, headers }: { response: ReceivedBody | null; headers: string | null }) {
  const texts = useTexts();
  if (!response) {
    return (
      <Text size="sm" c="dimmed">
        {texts.exchange.noAnswer}
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {headers && <CopyBlock label={texts.exchange.responseHeaders} value={headers} />}
      {response.body === '' ? (
        <Text size="sm" c="dimmed">
          {texts.exchange.emptyBody}
        </Text>
      ) : (
        <CopyBlock
          label={response.encoding === 'base64' ? texts.exchange.binaryBody : texts.exchange.responseBody}
          value={response.body}
          wrap
        />
      )}
    </Stack>
  );
}
