import { PageLayout } from '../../common/page';
import { ErrorNotice } from '../../common/error-notice';
import type { WorkspaceOverview } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { PagePending } from '../../frame/page-states';
import { PlanSection } from './plan-section';
import { RetentionSection } from './retention-section';
import { SecondFactorDemandSection } from './second-factor-demand-section';

export function WorkspacePage() {
  const { name } = useWorkspace();
  const overview = useRead<WorkspaceOverview>('overview');
  return (
    <PageLayout title={name}>
      <ErrorNotice error={overview.error} onRetry={() => void overview.refetch()} />
      {overview.data ? (
        <>
          <PlanSection overview={overview.data} />
          <RetentionSection
            key={overview.data.messageRetentionDays}
            days={overview.data.messageRetentionDays}
          />
          <SecondFactorDemandSection />
        </>
      ) : (
        !overview.error && <PagePending />
      )}
    </PageLayout>
  );
}
