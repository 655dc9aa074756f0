import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './section.module.css';

export function Section({
  title,
  icon,
  about,
  actions,
  children,
}: {
  title: string;
  icon?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Card withBorder component="section" aria-label={title} className={classes.section} data-section>
      <Stack>
        <Group justify="space-between" align="start">
          {icon}
          <div className={classes.heading}>
            <Title order={2} size="h4">
              {title}
            </Title>
            {about && (
              <Text size="sm" c="dimmed" component="div" maw="42rem">
                {about}
              </Text>
            )}
          </div>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
