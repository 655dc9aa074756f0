import { Button, Center, Container, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { sessionQuery } from '../api/session';
import { ErrorNotice } from '../common/error-notice';
import { useTexts } from '../i18n/locale';

/** Page for an address that leads nowhere, or to something that the person may not see. Both look alike. */
export function NotFoundPage() {
  const texts = useTexts();
  return (
    <Container size="sm" py="xl">
      <Stack align="start">
        <Title order={1} size="h2">
          {texts.frame.notFound}
        </Title>
        <Text>{texts.frame.notFoundAdvice}</Text>
        <Button component={Link} to="/">
          {texts.frame.home}
        </Button>
      </Stack>
    </Container>
  );
}

/** Page in place of those of a workspace whose server does not answer. */
export function UnreachablePage() {
  const texts = useTexts();
  const { refetch, isFetching } = useQuery(sessionQuery);
  return (
    <Container size="sm" py="xl">
      <Stack align="start">
        <Title order={1} size="h2">
          {texts.frame.unreachable}
        </Title>
        <Text>{texts.frame.unreachableAdvice}</Text>
        <Button onClick={() => void refetch()} loading={isFetching}>
          {texts.common.tryAgain}
        </Button>
      </Stack>
    </Container>
  );
}

/** Page for an address that leads nowhere, outside the frame of all others. */
export function NotFoundPageAlone() {
  return (
    <main id="content">
      <NotFoundPage />
    </main>
  );
}

/** Page for a fault, for example while the service is down. */
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
