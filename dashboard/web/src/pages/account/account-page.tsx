import { PageLayout } from '../../common/page';
import { useTexts } from '../../i18n/locale';
import { AlertMailsSection } from './alert-mails-section';
import { ExportSection } from './export-section';
import { NoticesSection } from './notices-section';
import { PasswordSection } from './password-section';
import { PreferencesSection } from './preferences-section';
import { PushSection } from './push-section';
import { SecondFactorSection } from './second-factor-section';
import { SessionsSection } from './sessions-section';

export function AccountPage() {
  const texts = useTexts();
  return (
    <PageLayout title={texts.account.title} about={texts.account.about}>
      <PreferencesSection />
      <NoticesSection />
      <PushSection />
      <AlertMailsSection />
      <PasswordSection />
      <SecondFactorSection />
      <SessionsSection />
      <ExportSection />
    </PageLayout>
  );
}
