import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, ApiError } from '../../api/client';
import type { CreatedEndpoint, Endpoint } from '../../api/types';
import { useChange, useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { DaySummary } from '../../common/day-summary';
import { ErrorNotice } from '../../common/error-notice';
import { lazyPart } from '../../common/lazy-part';
import { MenuButton } from '../../common/menu-button';
import { PageLayout } from '../../common/page';
import { NotFoundPage, PagePending } from '../../frame/page-states';
import { useFormats, useTexts } from '../../i18n/locale';
import { EndpointMakers } from '../webhooks/endpoint-maker';
import { EndpointState } from '../webhooks/endpoint-state';
import { AutomaticSection } from './automatic-section';
import { DeliveriesSection } from './deliveries-section';
import { filterOf } from './delivery-filter';
import { RecoveriesSection } from './recoveries-section';
import { TimelineSection } from './timeline-section';
import { usePrefetchDeliveries } from './use-deliveries';
import { useFollowRecoveries } from './use-recoveries';

// Dialogs are loaded separately, because most visits open none.
const NewSecretDialog = lazyPart(() =>
  import('../webhooks/new-secret-dialog').then((module) => module.NewSecretDialog),
);
const TestDialog = lazyPart(() => import('../webhooks/test-dialog').then((module) => module.TestDialog));
const RecoverDialog = lazyPart(() => import('./recover-dialog').then((module) => module.RecoverDialog));
const RollSecretDialog = lazyPart(() =>
  import('./roll-secret-dialog').then((module) => module.RollSecretDialog),
);
const EditEndpointDialog = lazyPart(() =>
  import('./edit-endpoint-dialog').then((module) => module.EditEndpointDialog),
);

const DeactivateEndpointDialog = lazyPart(() =>
  import('./endpoint-dialogs').then((module) => module.DeactivateEndpointDialog),
);
const DeleteEndpointDialog = lazyPart(() =>
  import('./endpoint-dialogs').then((module) => module.DeleteEndpointDialog),
);

const route = getRouteApi('/inside/w/$slug/settings/webhooks/$endpointId');

export function EndpointPage() {
  const { endpointId } = route.useParams();
  const search = route.useSearch();
  // Begins to read the deliveries now, so that they are not read only after the endpoint.
  usePrefetchDeliveries(endpointId, filterOf(search), search.cursor);
  useFollowRecoveries(endpointId);
  const endpoint = useRead<Endpoint>(`webhook-endpoints/${endpointId}`);
  if (endpoint.data) return <LoadedEndpoint endpoint={endpoint.data} />;
  if (!endpoint.error) return <PagePending />;
  if (endpoint.error instanceof ApiError && endpoint.error.status === 404) return <NotFoundPage />;
  return <ErrorNotice error={endpoint.error} onRetry={() => void endpoint.refetch()} />;
}

type Open = 'test' | 'edit' | 'deactivate' | 'delete' | 'roll' | 'recover' | null;

/** Numbers of deliveries, by outcome, at which the server stops counting. */
const MOST_COUNTED = {
  pending: 10_000,
  succeeded: Infinity,
  exhausted: 1_000,
  cancelled: 1_000,
  late: 1_000,
};

function LoadedEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const texts = useTexts();
  const formats = useFormats();
  const mayManage = useMayManage();
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open>(null);
  const [rolled, setRolled] = useState<CreatedEndpoint | null>(null);
  const close = () => setOpen(null);
  return (
    <PageLayout
      title={endpoint.name ?? endpoint.url}
      about={
        <Stack gap={4} align="start">
          <Group gap="sm">
            <EndpointState endpoint={endpoint} />
            <Anchor
              size="sm"
              renderRoot={(props) => <Link {...props} to="/w/$slug/settings/webhooks" params={{ slug }} />}
            >
              {texts.webhooks.backToList}
            </Anchor>
          </Group>
          {endpoint.deactivation && (
            <Text size="sm">{texts.webhooks.stoppedFor[endpoint.deactivation.reason]}</Text>
          )}
          {endpoint.name && (
            <Text size="sm" className="breakable">
              {endpoint.url}
            </Text>
          )}
          {endpoint.description && (
            <Text size="sm" c="dimmed" className="breakable">
              {endpoint.description}
            </Text>
          )}
          <Group gap={4} align="baseline">
            <Text size="sm" c="dimmed">
              {texts.webhooks.madeBy}
            </Text>
            <div>
              <EndpointMakers endpoint={endpoint} />
            </div>
          </Group>
          {endpoint.context && (
            <Text size="sm" c="dimmed">
              {texts.webhooks.sendsAlong(
                formats.list(endpoint.contextParts.map((part) => texts.webhooks.contextParts[part])),
              )}
            </Text>
          )}
          <DaySummary
            counts={endpoint.health.last24Hours}
            write={(count, name) =>
              count < MOST_COUNTED[name] ? formats.number(count) : texts.health.orMore(formats.number(count))
            }
          />
        </Stack>
      }
      actions={mayManage && <EndpointActions endpoint={endpoint} onOpen={setOpen} />}
    >
      <TimelineSection endpointId={endpoint.id} />
      <AutomaticSection endpoint={endpoint} />
      <RecoveriesSection endpointId={endpoint.id} isRunning />
      <DeliveriesSection endpointId={endpoint.id} isActive={endpoint.active} />
      <RecoveriesSection endpointId={endpoint.id} isRunning={false} />
      {open === 'test' && <TestDialog endpoint={endpoint} onClose={close} />}
      {open === 'edit' && (
        <EditEndpointDialog
          endpoint={endpoint}
          onClose={close}
          onEdited={(rolls) => setOpen(rolls ? 'roll' : null)}
        />
      )}
      {open === 'deactivate' && <DeactivateEndpointDialog endpoint={endpoint} onClose={close} />}
      {open === 'recover' && <RecoverDialog endpoint={endpoint} onClose={close} />}
      {open === 'delete' && (
        <DeleteEndpointDialog
          endpoint={endpoint}
          onClose={close}
          onDeleted={() => void navigate({ to: '/w/$slug/settings/webhooks', params: { slug } })}
        />
      )}
      {open === 'roll' && (
        <RollSecretDialog
          endpoint={endpoint}
          onClose={close}
          onRolled={(withSecret) => {
            close();
            setRolled(withSecret);
          }}
        />
      )}
      {rolled && <NewSecretDialog secret={rolled.secret} onClose={() => setRolled(null)} />}
    </PageLayout>
  );
}

function EndpointActions({ endpoint, onOpen }: { endpoint: Endpoint; onOpen: (open: Open) => void }) {
  const texts = useTexts();
  const activate = useActivateEndpoint(endpoint.id);
  return (
    <>
      <Button onClick={() => onOpen('test')}>{texts.webhooks.test}</Button>
      <Button variant="default" onClick={() => onOpen('edit')}>
        {texts.webhooks.editAction}
      </Button>
      {!endpoint.active && (
        <Button variant="default" loading={activate.isPending} onClick={() => activate.mutate()}>
          {texts.webhooks.activate}
        </Button>
      )}
      <MenuButton
        position="bottom-end"
        button={
          <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />}>
            {texts.common.more}
          </Button>
        }
      >
        {(menu) => (
          <>
            {endpoint.active && (
              <menu.Item onClick={() => onOpen('recover')}>{texts.recover.action}</menu.Item>
            )}
            {endpoint.active && (
              <menu.Item onClick={() => onOpen('deactivate')}>{texts.webhooks.deactivate}</menu.Item>
            )}
            <menu.Item onClick={() => onOpen('roll')} disabled={endpoint.previousSecretEndsAt !== null}>
              {texts.webhooks.roll}
            </menu.Item>
            <menu.Item color="red" onClick={() => onOpen('delete')}>
              {texts.webhooks.delete}
            </menu.Item>
          </>
        )}
      </MenuButton>
      {activate.error && <ErrorNotice error={activate.error} />}
    </>
  );
}

function useActivateEndpoint(endpointId: string) {
  const texts = useTexts();
  return useChange(
    (at) => api.post(`${at}/webhook-endpoints/${endpointId}/activate`),
    texts.webhooks.activatedDone,
  );
}
