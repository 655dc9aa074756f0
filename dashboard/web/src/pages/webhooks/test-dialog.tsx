import { Alert, Anchor, Button, Group, Loader, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../api/client';
import type { Endpoint, EventTypeInfo, TestResult } from '../../api/types';
import { useChange, useRead, useWorkspace } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { ErrorNotice, Fault, faultOf } from '../../common/error-notice';
import { useFormats, useTexts } from '../../i18n/locale';
import { Exchange } from './exchange';

const TEST = 'webhook.test';
const AUDIT = 'audit.event';

export type TestedEndpoint = Pick<Endpoint, 'id' | 'name' | 'url'>;

/** Sends a test event as soon as it opens. The person can then send examples of other events. */
export function TestDialog({
  endpoint: { id: endpointId, name, url },
  onClose,
}: {
  endpoint: TestedEndpoint;
  onClose: () => void;
}) {
  const texts = useTexts();
  const [event, setEvent] = useState(TEST);
  const [data, setData] = useState('');
  const parsed = parseObject(data);
  const test = useChange((at, example: object | null) =>
    example === null
      ? api.post<TestResult>(`${at}/webhook-endpoints/${endpointId}/test`)
      : api.post<TestResult>(`${at}/webhook-endpoints/${endpointId}/send-example`, example),
  );
  const { mutate } = test;
  useEffect(() => {
    // The timer prevents a second test, because React runs an effect twice in development.
    const timer = setTimeout(() => mutate(null));
    return () => clearTimeout(timer);
  }, [mutate]);
  return (
    <Dialog title={texts.webhooks.testTitle} about={name ?? url} onClose={onClose} size="lg">
      <Stack>
        <div role="status">
          {test.isPending && (
            <Group>
              <Loader size="sm" />
              <Text>{texts.webhooks.testing}</Text>
            </Group>
          )}
          {test.data && <Outcome endpointId={endpointId} result={test.data} />}
        </div>
        <ErrorNotice error={test.error} />
        <EventSelect
          event={event}
          onChange={(chosen, example) => {
            setEvent(chosen);
            setData(example);
          }}
        />
        {event !== TEST && (
          <Textarea
            label={texts.webhooks.exampleData}
            description={texts.webhooks.exampleAdvice}
            autosize
            minRows={4}
            maxRows={16}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            value={data}
            onChange={(change) => setData(change.currentTarget.value)}
            error={parsed === null ? texts.webhooks.notJson : faultOf(test.error, 'data')}
          />
        )}
        <Group justify="end">
          <Button
            variant="default"
            onClick={() => mutate(event === TEST ? null : { event, data: parsed })}
            loading={test.isPending}
            disabled={event !== TEST && parsed === null}
          >
            {event === TEST ? texts.webhooks.testAgain : texts.webhooks.sendExample}
          </Button>
          <Button onClick={onClose}>{texts.common.close}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function EventSelect({
  event,
  onChange,
}: {
  event: string;
  onChange: (event: string, example: string) => void;
}) {
  const texts = useTexts();
  const { entitlements } = useWorkspace();
  const types = useRead<{ data: EventTypeInfo[] }>('event-types', {}, { refreshMs: false });
  const offered = (types.data?.data ?? []).filter(
    ({ type, kind }) => kind === 'fact' && (type !== AUDIT || entitlements.includes('auditWebhookExport')),
  );
  const exampleOf = (chosen: string) => {
    const example = offered.find(({ type }) => type === chosen)?.example as { data: object } | undefined;
    return example ? JSON.stringify(example.data, null, 2) : '';
  };
  return (
    <NativeSelect
      label={texts.webhooks.testEvent}
      value={event}
      onChange={({ currentTarget: { value } }) => onChange(value, exampleOf(value))}
      data={[TEST, ...offered.map(({ type }) => type)]}
    />
  );
}

/** Parses a JSON text. Returns null unless the text is an object. */
function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function Outcome({ endpointId, result }: { endpointId: string; result: TestResult }) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  const formats = useFormats();
  const { deliveryId, status, elapsedMs, error, fault, phases, response, responseHeaders } = result;
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
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/w/$slug/settings/webhooks/$endpointId/deliveries/$deliveryId"
            params={{ slug, endpointId, deliveryId }}
          />
        )}
      >
        {texts.webhooks.testDelivery}
      </Anchor>
    </Stack>
  );
}
