import { Checkbox, Textarea } from '@mantine/core';
import { faultOf } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';

export interface WidgetChoices {
  /** Origins of the pages that may show the widget, one per line. */
  origins: string;
  keepsSecret: boolean;
  /** Whether visitors and agents see whether the other side is online or types. */
  showsPresence: boolean;
}

export function WidgetFields({
  settings,
  isNew,
  onChange,
  error,
}: {
  settings: WidgetChoices;
  isNew: boolean;
  onChange: (settings: WidgetChoices) => void;
  error: unknown;
}) {
  const texts = useTexts();
  return (
    <>
      <Textarea
        label={texts.channels.origins}
        description={texts.channels.originsAdvice}
        placeholder="https://shop.example"
        required
        autosize
        minRows={2}
        spellCheck={false}
        data-autofocus
        value={settings.origins}
        onChange={(event) => onChange({ ...settings, origins: event.currentTarget.value })}
        error={faultOf(error, 'allowedOrigins') ?? faultOf(error, 'credentials.allowedOrigins')}
      />
      <Checkbox
        label={texts.channels.showPresence}
        description={texts.channels.showPresenceAdvice}
        checked={settings.showsPresence}
        onChange={(event) => onChange({ ...settings, showsPresence: event.currentTarget.checked })}
      />
      {!isNew && (
        <Checkbox
          label={texts.channels.keepSecret}
          description={texts.channels.keepSecretAdvice}
          checked={settings.keepsSecret}
          onChange={(event) => onChange({ ...settings, keepsSecret: event.currentTarget.checked })}
        />
      )}
    </>
  );
}
