import { Badge, SimpleGrid } from '@mantine/core';
import type { FirstPage, WorkspaceOverview } from '../../api/types';
import { useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { TableSkeleton } from '../../common/data-table';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { useTexts } from '../../i18n/locale';
import { AttentionSection } from './attention-section';
import { ChannelsSection } from './channels-section';
import { Checklist } from './checklist';
import { DaySection } from './day-section';
import { EndpointsSection } from './endpoints-section';
import { Figures } from './figures';
import { useHiddenChecklist } from './use-hidden-checklist';

export function OverviewPage() {
  const texts = useTexts();
  const workspace = useWorkspace();
  const mayManage = useMayManage();
  const [isHidden, hide] = useHiddenChecklist(workspace.id);
  const page = useRead<FirstPage>('first-page');
  const overview = useRead<WorkspaceOverview>('overview', {}, { isEnabled: mayManage && !isHidden });
  const counts = overview.data?.counts;
  const managed = page.data?.managed;
  const { planTier, trialEndsAt, isTrialExpired } = workspace;
  return (
    <PageLayout
      title={texts.overview.title}
      actions={
        planTier === 'TRIAL' &&
        trialEndsAt && (
          <Badge color={isTrialExpired ? 'red' : 'yellow'}>
            {isTrialExpired ? texts.overview.trialEnded : texts.overview.trialEnds}{' '}
            <Moment at={trialEndsAt} mayBeAhead />
          </Badge>
        )
      }
    >
      <ErrorNotice error={page.error} onRetry={() => void page.refetch()} />
      {!page.data && !page.error && <TableSkeleton />}
      {counts && 'apiKeys' in counts && page.data && !isHidden && (
        <Checklist counts={counts} hasMessage={page.data.hasConversation} onHide={hide} />
      )}
      {page.data && (
        <>
          <AttentionSection page={page.data} />
          <Figures page={page.data} />
          {managed && managed.endpoints.length > 0 && <DaySection day={managed.webhooks} />}
          {managed && managed.channels.length + managed.endpoints.length > 0 && (
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              <ChannelsSection channels={managed.channels} />
              <EndpointsSection endpoints={managed.endpoints} />
            </SimpleGrid>
          )}
        </>
      )}
    </PageLayout>
  );
}
