import { PageLayout } from '../../common/page';
import { ErrorNotice } from '../../common/error-notice';
import type { WorkspaceOverview } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { PagePending } from '../../frame/page-states';
import { AgentsSection } from './agents-section';
import { ParkedEventsSection } from './parked-events-section';
import { PlanSection } from './plan-section';
import { RateLimitSection } from './rate-limit-section';
import { RetentionSection } from './retention-section';

export function WorkspacePage() {
  const { name } = useWorkspace();
  const overview = useRead<WorkspaceOverview>('overview');
  return (
    <PageLayout title={name}>
      <ErrorNotice error={overview.error} onRetry={() => void overview.refetch()} />
      {overview.data ? (
        <>
          <PlanSection overview={overview.data} />
          <AgentsSection />
          <RateLimitSection use={overview.data.rateLimit} />
          <RetentionSection
            key={overview.data.messageRetentionDays}
            days={overview.data.messageRetentionDays}
          />
          <ParkedEventsSection />
        </>
      ) : (
        !overview.error && <PagePending />
      )}
    </PageLayout>
  );
}
