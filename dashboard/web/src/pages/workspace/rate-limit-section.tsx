import { Progress, Stack, Text } from '@mantine/core';
import type { WorkspaceOverview } from '../../api/types';
import { Section } from '../../common/section';
import { useFormats, useTexts } from '../../i18n/locale';

const BUSY_SHARE = 0.8;

export function RateLimitSection({ use: { perMinute, paths } }: { use: WorkspaceOverview['rateLimit'] }) {
  const texts = useTexts();
  const formats = useFormats();
  return (
    <Section title={texts.rateLimit.title} about={texts.rateLimit.about(formats.number(perMinute))}>
      {paths === null && <Text size="sm">{texts.rateLimit.unknown}</Text>}
      {paths?.length === 0 && (
        <Text size="sm" c="dimmed">
          {texts.rateLimit.unused}
        </Text>
      )}
      {paths && paths.length > 0 && (
        <Stack gap="sm">
          {paths.map(({ path, used }) => {
            const text = texts.rateLimit.used(formats.number(used), formats.number(perMinute));
            return (
              <div key={path}>
                <Text size="sm">
                  <code>{path}</code> · {text}
                </Text>
                <Progress
                  value={Math.min(100, (used / perMinute) * 100)}
                  {...(used / perMinute > BUSY_SHARE && { color: 'red.7' })}
                  aria-label={`${path}: ${text}`}
                />
              </div>
            );
          })}
        </Stack>
      )}
    </Section>
  );
}
