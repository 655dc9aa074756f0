import '@mantine/core/styles/SegmentedControl.css';
import {
  Group,
  Input,
  NativeSelect,
  SegmentedControl,
  TextInput,
  useMantineColorScheme,
} from '@mantine/core';
import { useId, useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import type { Locale, Theme } from '../../api/types';
import { Form } from '../../common/form';
import { ErrorNotice, faultOf } from '../../common/error-notice';
import { Section } from '../../common/section';
import { guessLocale, LOCALES, useTexts } from '../../i18n/locale';
import { useChooseLocale } from '../../i18n/locale-choice';
import { useAccountChange } from './use-account-change';

/** Shows fields for name, language and theme. A new language or theme is applied and stored at once. */
export function PreferencesSection() {
  const texts = useTexts();
  const { person } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const chooseLocale = useChooseLocale();
  const [name, setName] = useState(person.name);
  const themeLabel = useId();
  const rename = useAccountChange(() => api.patch('/account', { name: name.trim() }), texts.common.saved);
  const setTheme = useAccountChange((theme: Theme) => {
    setColorScheme(theme);
    return api.patch('/account', { theme });
  }, texts.common.saved);
  const setLocale = useAccountChange(async (locale: Locale | null) => {
    await api.patch('/account', { locale });
    await chooseLocale(locale ?? guessLocale());
  });
  return (
    <Section title={texts.account.profile} about={person.email}>
      <Form
        action={texts.common.save}
        isPending={rename.isPending}
        isDisabled={name.trim() === person.name || name.trim() === ''}
        error={rename.error}
        onSubmit={() => rename.mutate()}
      >
        <TextInput
          label={texts.account.name}
          autoComplete="name"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faultOf(rename.error, 'name')}
        />
      </Form>
      <Group align="start" gap="xl">
        <NativeSelect
          label={texts.account.language}
          value={person.locale ?? ''}
          onChange={(event) => setLocale.mutate((event.currentTarget.value || null) as Locale | null)}
          data={[
            { value: '', label: texts.account.browserLanguage },
            ...LOCALES.map((locale) => ({ value: locale, label: texts.account.languages[locale] })),
          ]}
        />
        <Input.Wrapper label={texts.account.theme} labelElement="div" labelProps={{ id: themeLabel }}>
          <div>
            <SegmentedControl
              aria-labelledby={themeLabel}
              value={person.theme}
              onChange={(theme) => setTheme.mutate(theme)}
              data={(['auto', 'light', 'dark'] as const).map((theme) => ({
                value: theme,
                label: texts.account.themes[theme],
              }))}
            />
          </div>
        </Input.Wrapper>
      </Group>
      <ErrorNotice error={setTheme.error ?? setLocale.error} />
    </Section>
  );
}
