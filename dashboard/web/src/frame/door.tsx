import { Anchor, Card, Container, Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { LOCALES, useLocale, useTexts } from '../i18n/locale';
import { useChooseLocale } from '../i18n/locale-choice';
import { Brand } from './brand';

/** Frames the pages that need no login: a narrow card, with a choice of language below it. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  const texts = useTexts();
  const locale = useLocale();
  const chooseLocale = useChooseLocale();
  useEffect(() => {
    document.title = `${title} · ${texts.frame.product}`;
  }, [title, texts]);
  return (
    <Container size={420} py={{ base: 'xl', sm: 80 }} component="main" id="content" tabIndex={-1}>
      <Stack>
        <Group justify="center">
          <Brand />
        </Group>
        <Card withBorder padding="xl" shadow="xs">
          <Stack>
            <Title order={1} size="h3">
              {title}
            </Title>
            {children}
          </Stack>
        </Card>
        <Group justify="center" component="nav" aria-label={texts.account.language}>
          {LOCALES.filter((one) => one !== locale).map((one) => (
            <Anchor
              key={one}
              component="button"
              type="button"
              size="sm"
              lang={one}
              underline="always"
              onClick={() => void chooseLocale(one)}
            >
              {texts.account.languages[one]}
            </Anchor>
          ))}
        </Group>
      </Stack>
    </Container>
  );
}
