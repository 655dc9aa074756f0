import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { api } from '../../api/client';
import type { TestResult } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { ErrorNotice, Fault } from '../../common/error-notice';
import { useFormats, useTexts } from '../../i18n/locale';
import { Exchange } from './exchange';

/** Sends a test event at once, and shows what the receiver answered. */
export function TestDialog({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const texts = useTexts();
  const test = useChange((at) => api.post<TestResult>(`${at}/webhook-endpoints/${endpointId}/test`));
  const { mutate } = test;
  useEffect(() => {
    // The call is not in the effect itself: in development React runs an effect twice, and two tests would be
    // sent.
    const timer = setTimeout(() => mutate());
    return () => clearTimeout(timer);
  }, [mutate]);
  return (
    <Dialog title={texts.webhooks.testTitle} onClose={onClose} size="lg">
      <Stack>
        <div role="status">
          {test.isPending && (
            <Group>
              <Loader size="sm" />
              <Text>{texts.webhooks.testing}</Text>
            </Group>
          )}
          {test.data && <Outcome result={test.data} />}
        </div>
        <ErrorNotice error={test.error} />
        <Group justify="end">
          <Button variant="default" onClick={() => mutate()} loading={test.isPending}>
            {texts.webhooks.testAgain}
          </Button>
          <Button onClick={onClose}>{texts.common.close}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Outcome({ result }: { result: TestResult }) {
  const texts = useTexts();
  const formats = useFormats();
  const { status, elapsedMs, error, fault, phases, response, responseHeaders } = result;
  const elapsed = formats.milliseconds(elapsedMs);
  return (
    <Stack>
      {error === null ? (
        <Alert color="green" title={texts.webhooks.testPassed(status!, elapsed)} />
      ) : (
        <Alert color="red" title={texts.webhooks.testFailed(status, elapsed)}>
          <Stack gap={4}>
            <Text size="sm" className="breakable">
              <Fault detail={{ message: error, ...fault }} />
            </Text>
            <Text size="sm">{texts.webhooks.testFailedAdvice}</Text>
          </Stack>
        </Alert>
      )}
      <Exchange phases={phases} totalMs={elapsedMs} response={response} responseHeaders={responseHeaders} />
    </Stack>
  );
}
