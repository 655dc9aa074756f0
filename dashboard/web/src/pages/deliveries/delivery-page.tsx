import { Anchor, Button, Card, DataList, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, ApiError } from '../../api/client';
import type { AttemptDetail, DeliveryDetail } from '../../api/types';
import { useChange, useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { CopyBlock, CopyText } from '../../common/copying';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { NotFoundPage, PagePending } from '../../frame/page-states';
import { useFormats, useTexts } from '../../i18n/locale';
import { Exchange } from '../webhooks/exchange';
import { DeliveryStatus } from './delivery-status';

const route = getRouteApi('/inside/w/$slug/settings/webhooks/$endpointId/deliveries/$deliveryId');
const REFRESH_MS = 3_000;

/** Page of one event for one endpoint: what was sent, and the outcome of each attempt. */
export function DeliveryPage() {
  const { deliveryId, endpointId } = route.useParams();
  const delivery = useRead<DeliveryDetail>(`deliveries/${deliveryId}`, {}, { refreshMs: REFRESH_MS });
  if (delivery.data) {
    const isOfEndpoint = delivery.data.endpointId === endpointId;
    return isOfEndpoint ? <LoadedDelivery delivery={delivery.data} /> : <NotFoundPage />;
  }
  if (!delivery.error) return <PagePending />;
  if (delivery.error instanceof ApiError && delivery.error.status === 404) return <NotFoundPage />;
  return <ErrorNotice error={delivery.error} onRetry={() => void delivery.refetch()} />;
}

function LoadedDelivery({ delivery }: { delivery: DeliveryDetail }) {
  const texts = useTexts();
  const mayManage = useMayManage();
  const { slug } = useWorkspace();
  const { endpointId, attempts, request } = delivery;
  const redeliver = useChange(
    (at) => api.post(`${at}/deliveries/${delivery.id}/redeliver`),
    texts.redeliver.started(1),
  );
  return (
    <PageLayout
      title={delivery.event}
      about={
        <Stack gap="xs" align="start">
          <DeliveryStatus status={delivery.status} />
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link {...props} to="/w/$slug/settings/webhooks/$endpointId" params={{ slug, endpointId }} />
            )}
          >
            {texts.deliveries.backToList}
          </Anchor>
        </Stack>
      }
      actions={
        mayManage && (
          <Button
            disabled={delivery.status === 'pending'}
            loading={redeliver.isPending}
            onClick={() => redeliver.mutate()}
          >
            {texts.redeliver.one}
          </Button>
        )
      }
    >
      <ErrorNotice error={redeliver.error} />
      <Facts delivery={delivery} />
      {request && (
        <Card withBorder component="section" aria-label={texts.exchange.request}>
          <Stack>
            <Title order={2} size="h4">
              {texts.exchange.request}
            </Title>
            <CopyBlock
              label={texts.exchange.requestHeaders}
              value={headerLines(request, texts.exchange.withheld)}
            />
            <CopyBlock label={texts.exchange.requestBody} value={pretty(request.body)} />
          </Stack>
        </Card>
      )}
      <Stack component="section" aria-label={texts.deliveries.attempts}>
        <Title order={2} size="h4">
          {texts.deliveries.attempts}
        </Title>
        {attempts.length === 0 && <Text c="dimmed">{texts.attempts.none}</Text>}
        {attempts
          .map((attempt, index) => <Attempt key={attempt.at} attempt={attempt} number={index + 1} />)
          .reverse()}
      </Stack>
    </PageLayout>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const texts = useTexts();
  const { id, eventId, createdAt, status, nextAttemptAt } = delivery;
  return (
    <Card withBorder>
      <DataList labelWidth="9rem">
        <DataList.Item>
          <DataList.ItemLabel>{texts.deliveries.id}</DataList.ItemLabel>
          <DataList.ItemValue>
            <CopyText value={id} name={texts.deliveries.id} />
          </DataList.ItemValue>
        </DataList.Item>
        <DataList.Item>
          <DataList.ItemLabel>{texts.deliveries.eventId}</DataList.ItemLabel>
          <DataList.ItemValue>
            <CopyText value={eventId} name={texts.deliveries.eventId} />
          </DataList.ItemValue>
        </DataList.Item>
        <DataList.Item>
          <DataList.ItemLabel>{texts.deliveries.created}</DataList.ItemLabel>
          <DataList.ItemValue>
            <Moment at={createdAt} isExact />
          </DataList.ItemValue>
        </DataList.Item>
        {status === 'pending' && (
          <DataList.Item>
            <DataList.ItemLabel>{texts.deliveries.nextAttempt}</DataList.ItemLabel>
            <DataList.ItemValue>
              {nextAttemptAt === null ? texts.deliveries.underWay : <Moment at={nextAttemptAt} mayBeAhead />}
            </DataList.ItemValue>
          </DataList.Item>
        )}
      </DataList>
    </Card>
  );
}

function Attempt({ attempt, number }: { attempt: AttemptDetail; number: number }) {
  const texts = useTexts();
  const formats = useFormats();
  const { at, statusCode, durationMs, error, errorMessage, phases, response, responseHeaders } = attempt;
  const outcome = error === null ? texts.attempts.succeeded : texts.attempts.error[error];
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={3} size="h5">
          {texts.attempts.title(number)}: {statusCode ?? outcome} · {formats.milliseconds(durationMs)}
        </Title>
        <Text size="sm" c="dimmed">
          <Moment at={at} isExact />
        </Text>
        {errorMessage && (
          <Text size="sm" c="var(--mantine-color-error)" className="breakable">
            {errorMessage}
          </Text>
        )}
        <Exchange
          phases={phases}
          totalMs={durationMs}
          response={response}
          responseHeaders={responseHeaders}
        />
      </Stack>
    </Card>
  );
}

/**
 * Returns the headers as they are sent. Signatures are left out: each attempt has its own, and they are not
 * stored.
 */
function headerLines(
  { method, url, headers }: NonNullable<DeliveryDetail['request']>,
  withheld: string,
): string {
  const lines = headers.map(({ name, value }) => `${name}: ${value ?? withheld}`);
  return [`${method} ${url}`, ...lines].join('\n');
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
