import { Button } from '@mantine/core';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';

export function ExportSection() {
  const texts = useTexts();
  return (
    <Section
      title={texts.account.yourData}
      about={texts.account.yourDataAbout}
      actions={
        <Button component="a" href="/api/account/export" download="account.json" variant="default">
          {texts.account.download}
        </Button>
      }
    />
  );
}
