import { Button, Center, Container, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sessionQuery } from '../api/session';
import { ErrorNotice } from '../common/error-notice';
import { useTexts } from '../i18n/locale';

export function TextPage({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Container size="sm" py="xl">
      <Stack align="start">
        <Title order={1} size="h2">
          {title}
        </Title>
        <Text>{text}</Text>
        {children}
      </Stack>
    </Container>
  );
}

/** Says that the page does not exist or is forbidden to the person, without revealing which. */
export function NotFoundPage() {
  const { frame } = useTexts();
  return (
    <TextPage title={frame.notFound} text={frame.notFoundAdvice}>
      <Button component={Link} to="/">
        {frame.home}
      </Button>
    </TextPage>
  );
}

/** Replaces a workspace's pages while the server that stores the workspace does not answer. */
export function UnreachablePage() {
  const { common, frame } = useTexts();
  const { refetch, isFetching } = useQuery(sessionQuery);
  return (
    <TextPage title={frame.unreachable} text={frame.unreachableAdvice}>
      <Button onClick={() => void refetch()} loading={isFetching}>
        {common.tryAgain}
      </Button>
    </TextPage>
  );
}

/** Shows the not-found page where no frame surrounds it, in a `main` element of its own. */
export function NotFoundPageAlone() {
  return (
    <main id="content">
      <NotFoundPage />
    </main>
  );
}

export function PageFault({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Container size="sm" py="xl">
      <ErrorNotice error={error} onRetry={retry} />
    </Container>
  );
}

export function PagePending() {
  const texts = useTexts();
  return (
    <Center h="40vh" role="status" aria-label={texts.common.loading}>
      <Loader />
    </Center>
  );
}
