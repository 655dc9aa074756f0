import { Anchor, Button, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, ApiError } from '../../api/client';
import type { DeliveryDetail } from '../../api/types';
import { useChange, useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { CopyAsButton, CopyBlock, CopyText } from '../../common/copying';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { Section } from '../../common/section';
import { NotFoundPage, PagePending } from '../../frame/page-states';
import { useTexts } from '../../i18n/locale';
import { Attempts } from './attempts';
import { curlCommand } from './curl-command';
import { DeliveryStatus } from './delivery-status';
import { useFormerAddress } from './use-former-address';

const route = getRouteApi('/inside/w/$slug/settings/webhooks/$endpointId/deliveries/$deliveryId');
const REFRESH_MS = 3_000;

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
  const { endpointId, request } = delivery;
  const formerAddress = useFormerAddress(endpointId);
  const last = delivery.attempts.at(-1);
  const isPending = delivery.status === 'pending';
  const redeliver = useChange(
    (at) => api.post(`${at}/deliveries/${delivery.id}/${isPending ? 'retry' : 'redeliver'}`),
    isPending ? texts.deliveries.broughtForward : texts.redeliver.started(1),
  );
  return (
    <PageLayout
      title={delivery.event}
      about={
        <Group gap="sm">
          <DeliveryStatus status={delivery.status} />
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link {...props} to="/w/$slug/settings/webhooks/$endpointId" params={{ slug, endpointId }} />
            )}
          >
            {texts.deliveries.backToList}
          </Anchor>
        </Group>
      }
      actions={
        mayManage && (
          <Button
            disabled={isPending && delivery.nextAttemptAt === null}
            loading={redeliver.isPending}
            onClick={() => redeliver.mutate()}
          >
            {isPending ? texts.deliveries.retryNow : texts.redeliver.one}
          </Button>
        )
      }
    >
      <ErrorNotice error={redeliver.error} />
      <Facts delivery={delivery} />
      <Attempts attempts={delivery.attempts} formerAddress={formerAddress} />
      {request && <SentRequest request={request} about={last && formerAddress(last.at)} />}
    </PageLayout>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  const { id, endpointId, eventId, createdAt, status, nextAttemptAt, subject } = delivery;
  const { conversationId, contactName, text } = subject;
  const facts: [string, ReactNode][] = [
    [texts.deliveries.id, <CopyText key="id" value={id} name={texts.deliveries.id} />],
    [texts.deliveries.eventId, <CopyText key="event" value={eventId} name={texts.deliveries.eventId} />],
    [texts.deliveries.created, <Moment key="created" at={createdAt} isExact />],
  ];
  if (conversationId) {
    facts.push([
      texts.deliveries.conversation,
      <CopyText key="conversation" value={conversationId} name={texts.deliveries.conversation} />,
    ]);
  }
  if (contactName || text) {
    facts.push([texts.deliveries.about, [contactName, text].filter(Boolean).join(': ')]);
  }
  if (status === 'pending') {
    facts.push([
      texts.deliveries.nextAttempt,
      nextAttemptAt === null ? (
        texts.deliveries.underWay
      ) : (
        <Moment key="next" at={nextAttemptAt} mayBeAhead />
      ),
    ]);
  }
  facts.push([
    texts.deliveries.seeAlso,
    <Group key="links" style={{ gap: '6px 1rem' }}>
      {conversationId && (
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/w/$slug/settings/webhooks/$endpointId"
              params={{ slug, endpointId }}
              search={{ conversationId }}
            />
          )}
        >
          {texts.deliveries.ofConversation}
        </Anchor>
      )}
      <AuditLink entity="webhook_delivery" entityId={id} text={texts.deliveries.auditOfDelivery} />
      <AuditLink entity="webhook_endpoint" entityId={endpointId} text={texts.deliveries.auditOfEndpoint} />
    </Group>,
  ]);
  return (
    <Card withBorder padding="sm">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={4}>
        {facts.map(([name, value]) => (
          <Group key={name} gap="sm" wrap="nowrap" align="baseline">
            <Text size="sm" c="dimmed" w="8rem" style={{ flexShrink: 0 }}>
              {name}
            </Text>
            <Text size="sm" component="div" className="breakable" miw={0}>
              {value}
            </Text>
          </Group>
        ))}
      </SimpleGrid>
    </Card>
  );
}

function AuditLink({ entity, entityId, text }: { entity: string; entityId: string; text: string }) {
  const { slug } = useWorkspace();
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/w/$slug/settings/audit" params={{ slug }} search={{ entity, entityId }} />
      )}
    >
      {text}
    </Anchor>
  );
}

/** Shows a request with the endpoint's present address. `about` names a former address if it went there. */
function SentRequest({
  request,
  about,
}: {
  request: NonNullable<DeliveryDetail['request']>;
  about: string | undefined;
}) {
  const texts = useTexts();
  return (
    <Section
      title={texts.exchange.request}
      about={about}
      actions={<CopyAsButton text={curlCommand(request)} label={texts.exchange.copyAsCurl} />}
    >
      <CopyBlock
        label={texts.exchange.requestHeaders}
        value={headerLines(request, texts.exchange.withheld)}
      />
      <CopyBlock label={texts.exchange.requestBody} value={pretty(request.body)} />
    </Section>
  );
}

/** Returns the headers as text. `withheld` replaces the signatures, which are not stored. */
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
