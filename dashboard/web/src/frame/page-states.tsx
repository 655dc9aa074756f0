import { Button, Center, Container, Loader, Stack, Text, Title } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { ErrorNotice } from '../common/error-notice';
import { useTexts } from '../i18n/locale';

/** The address leads nowhere, or to what the person may not see: both look alike. */
export function NotFoundPage() {
  const texts = useTexts();
  return (
    <Container size="sm" py="xl" component="main" id="content">
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

/** A page that could not be shown, such as while the service is away. */
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
