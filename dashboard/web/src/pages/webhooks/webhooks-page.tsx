import { Anchor, Button, EmptyState, Group, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { CreatedEndpoint, EndpointListItem, Page } from '../../api/types';
import { useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { Moment } from '../../common/moment';
import { lazyPart } from '../../common/lazy-part';
import { PageLayout } from '../../common/page';
import { Pager } from '../../common/pager';
import { useFormats, useTexts } from '../../i18n/locale';
import { EndpointMakers } from './endpoint-maker';
import { ALL_EVENTS } from './endpoint-rules';
import { EndpointState } from './endpoint-state';
import type { TestedEndpoint } from './test-dialog';

// Dialogs are loaded separately, because most visits open none.
const CreateEndpointDialog = lazyPart(() =>
  import('./create-endpoint-dialog').then((module) => module.CreateEndpointDialog),
);
const NewSecretDialog = lazyPart(() =>
  import('./new-secret-dialog').then((module) => module.NewSecretDialog),
);
const TestDialog = lazyPart(() => import('./test-dialog').then((module) => module.TestDialog));

const route = getRouteApi('/inside/w/$slug/settings/webhooks');

/** Number of given-up deliveries at which the server stops counting. */
const MOST_GIVEN_UP = 100;

export function WebhooksPage() {
  const texts = useTexts();
  const mayManage = useMayManage();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const endpoints = useRead<Page<EndpointListItem>>('webhook-endpoints', { cursor });
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedEndpoint | null>(null);
  const [testing, setTesting] = useState<TestedEndpoint | null>(null);
  const columns = useColumns(setTesting);

  const create = <Button onClick={() => setCreating(true)}>{texts.webhooks.create}</Button>;
  return (
    <PageLayout title={texts.webhooks.title} about={texts.webhooks.about} actions={mayManage && create}>
      <DataTable
        name={texts.webhooks.title}
        query={endpoints}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={texts.webhooks.none} description={texts.webhooks.noneAdvice}>
            {mayManage && <EmptyState.Actions>{create}</EmptyState.Actions>}
          </EmptyState>
        }
      />
      <Pager
        cursor={cursor}
        nextCursor={endpoints.data?.nextCursor}
        onMove={(to) => void navigate({ search: { cursor: to } })}
      />
      {isCreating && (
        <CreateEndpointDialog
          onClose={() => setCreating(false)}
          onCreated={(endpoint) => {
            setCreating(false);
            setCreated(endpoint);
          }}
        />
      )}
      {created && (
        <NewSecretDialog
          secret={created.secret}
          onTest={() => {
            setCreated(null);
            setTesting(created);
          }}
          onClose={() => setCreated(null)}
        />
      )}
      {testing && <TestDialog endpoint={testing} onClose={() => setTesting(null)} />}
    </PageLayout>
  );
}

function useColumns(onTest: (endpoint: TestedEndpoint) => void): Column<EndpointListItem>[] {
  const texts = useTexts();
  const formats = useFormats();
  const mayManage = useMayManage();
  const { slug } = useWorkspace();
  return [
    {
      header: texts.webhooks.endpoint,
      cell: (endpoint) => (
        <Stack gap={4} align="start">
          <Anchor
            inherit
            renderRoot={(props) => (
              <Link
                {...props}
                to="/w/$slug/settings/webhooks/$endpointId"
                params={{ slug, endpointId: endpoint.id }}
              />
            )}
            fw={500}
          >
            {endpoint.name ?? endpoint.url}
          </Anchor>
          {endpoint.name && (
            <Text size="sm" c="dimmed" className="breakable">
              {endpoint.url}
            </Text>
          )}
          <EndpointState endpoint={endpoint} />
        </Stack>
      ),
    },
    {
      header: texts.webhooks.events,
      cell: ({ events }) => (
        <Text size="sm">{events.includes(ALL_EVENTS) ? texts.webhooks.allEvents : formats.list(events)}</Text>
      ),
    },
    { header: texts.webhooks.madeBy, cell: (endpoint) => <EndpointMakers endpoint={endpoint} /> },
    {
      header: texts.webhooks.last24Hours,
      cell: ({ last24Hours: { succeeded, late, exhausted } }) => (
        <Stack gap={2}>
          <Text size="sm">{texts.webhooks.succeeded(succeeded, formats.number(succeeded))}</Text>
          {late > 0 && (
            <Text size="sm" c="dimmed">
              {texts.health.later(late, formats.number(late))}
            </Text>
          )}
          {exhausted > 0 && (
            <Text size="sm" c="var(--mantine-color-error)" fw={600}>
              {texts.health.exhausted(
                exhausted,
                exhausted < MOST_GIVEN_UP
                  ? formats.number(exhausted)
                  : texts.health.orMore(formats.number(exhausted)),
              )}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      header: texts.webhooks.lastSuccess,
      cell: ({ lastSuccessAt }) => <Moment at={lastSuccessAt} none={texts.common.never} />,
    },
    {
      header: texts.common.actions,
      isActions: true,
      cell: (endpoint) =>
        mayManage && (
          <Group justify="end">
            <Button
              variant="default"
              size="compact-sm"
              aria-label={texts.webhooks.testNamed(endpoint.name ?? endpoint.url)}
              onClick={() => onTest(endpoint)}
            >
              {texts.webhooks.test}
            </Button>
          </Group>
        ),
    },
  ];
}
