import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useTexts } from '../i18n/locale';

export function PageLayout({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const texts = useTexts();
  useEffect(() => {
    document.title = `${title} · ${texts.frame.product}`;
  }, [title, texts]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="start" gap="sm">
        <Box maw="42rem">
          <Title order={1} size="h2" className="breakable">
            {title}
          </Title>
          {about && (
            <Text c="dimmed" mt={4} component="div">
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
