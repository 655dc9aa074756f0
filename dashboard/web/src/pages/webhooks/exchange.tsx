import { Box, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Phases, ReceivedBody } from '../../api/types';
import { CopyBlock } from '../../common/copying';
import { useFormats, useTexts } from '../../i18n/locale';

/** Height in pixels above which an answer scrolls, so that the content around it stays visible. */
const ANSWER_HEIGHT = 160;

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
      <Group component="ul" aria-label={texts.phases.title} mt={6} p={0} m={0} style={{ gap: '4px 1rem' }}>
        {parts.map(
          ({ name, ms, color }) =>
            ms !== null && (
              <Group key={name} component="li" gap={6} wrap="nowrap">
                <Box w={8} h={8} bg={color} style={{ borderRadius: '50%' }} aria-hidden />
                <Text size="xs">
                  {name} {formats.milliseconds(ms)}
                </Text>
              </Group>
            ),
        )}
      </Group>
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
    <SimpleGrid cols={{ base: 1, ...(headers && { md: 2 }) }} spacing="sm">
      {headers && (
        <CopyBlock label={texts.exchange.responseHeaders} value={headers} maxHeight={ANSWER_HEIGHT} />
      )}
      {response.body === '' ? (
        <Text size="sm" c="dimmed">
          {texts.exchange.emptyBody}
        </Text>
      ) : (
        <CopyBlock
          label={texts.exchange[labelOf(response)]}
          value={response.decoded ?? response.body}
          maxHeight={ANSWER_HEIGHT}
          wrap
        />
      )}
    </SimpleGrid>
  );
}

function labelOf({ encoding, decoded }: ReceivedBody): 'responseBody' | 'decodedBody' | 'binaryBody' {
  if (encoding === 'utf8') return 'responseBody';
  return decoded === undefined ? 'binaryBody' : 'decodedBody';
}
