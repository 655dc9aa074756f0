import type { WorkspaceOverview } from '../../api/types';
import { useRead } from '../../api/workspace';
import { ErrorNotice } from '../../common/error-notice';
import { PageLayout } from '../../common/page';
import { useTexts } from '../../i18n/locale';
import { ParkedEventsSection } from './parked-events-section';
import { RateLimitSection } from './rate-limit-section';

export function DiagnosticsPage() {
  const texts = useTexts();
  const overview = useRead<WorkspaceOverview>('overview');
  return (
    <PageLayout title={texts.diagnostics.title} about={texts.diagnostics.about}>
      <ErrorNotice error={overview.error} onRetry={() => void overview.refetch()} />
      {overview.data && <RateLimitSection use={overview.data.rateLimit} />}
      <ParkedEventsSection />
    </PageLayout>
  );
}
