import { Checkbox, NativeSelect, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { CreateApiKey, CreatedApiKey, Scope } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { useLocale, useTexts } from '../../i18n/locale';
import { PRESETS, SCOPE_TEXTS, SCOPES } from './scopes';
import { useApiKeyTexts } from './api-key-texts';

const DAY_MS = 86_400_000;
const LIVES_DAYS = [30, 90, 365];

export function CreateKeyDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (key: CreatedApiKey) => void;
}) {
  const texts = useTexts();
  const apiKeys = useApiKeyTexts();
  const locale = useLocale();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>([...PRESETS.read]);
  const [lifeDays, setLifeDays] = useState('');
  const [networks, setNetworks] = useState('');
  const create = useChange((at, input: CreateApiKey) => api.post<CreatedApiKey>(`${at}/api-keys`, input));

  const preset = presetOf(scopes);
  const submit = () => {
    const allowedNetworks = networks.split(/[\s,]+/).filter((network) => network !== '');
    const input: CreateApiKey = {
      name: name.trim(),
      scopes,
      ...(lifeDays && { expiresAt: new Date(Date.now() + Number(lifeDays) * DAY_MS).toISOString() }),
      ...(allowedNetworks.length > 0 && { allowedNetworks }),
    };
    create.mutate(input, { onSuccess: onCreated });
  };
  return (
    <Dialog title={apiKeys.create} onClose={onClose} size="lg">
      <Form
        action={apiKeys.create}
        isPending={create.isPending}
        isDisabled={scopes.length === 0}
        error={create.error}
        onSubmit={submit}
        onCancel={onClose}
      >
        <TextInput
          label={apiKeys.name}
          description={apiKeys.nameAdvice}
          required
          maxLength={200}
          data-autofocus
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faultOf(create.error, 'name')}
        />
        <NativeSelect
          label={apiKeys.preset}
          value={preset}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            if (isPreset(chosen)) setScopes([...PRESETS[chosen]]);
          }}
          data={[
            { value: 'read', label: apiKeys.presets.read },
            { value: 'answer', label: apiKeys.presets.answer },
            { value: 'all', label: apiKeys.presets.all },
            { value: 'custom', label: apiKeys.presets.custom, disabled: true },
          ]}
        />
        <Checkbox.Group
          label={apiKeys.scopes}
          value={scopes}
          onChange={(chosen) => setScopes(SCOPES.filter((scope) => chosen.includes(scope)))}
          error={scopes.length === 0 ? apiKeys.scopeNeeded : faultOf(create.error, 'scopes')}
        >
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt="xs">
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={scope} description={SCOPE_TEXTS[scope][locale]} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>

        <NativeSelect
          label={apiKeys.expires}
          value={lifeDays}
          onChange={(event) => setLifeDays(event.currentTarget.value)}
          data={[
            { value: '', label: apiKeys.noExpiry },
            ...LIVES_DAYS.map((days) => ({ value: String(days), label: texts.common.inDays(days) })),
          ]}
          error={faultOf(create.error, 'expiresAt')}
        />

        <Textarea
          label={apiKeys.networks}
          description={apiKeys.networksAdvice}
          placeholder="203.0.113.0/24"
          autosize
          minRows={1}
          value={networks}
          onChange={(event) => setNetworks(event.currentTarget.value)}
          error={faultOf(create.error, 'allowedNetworks')}
        />
      </Form>
    </Dialog>
  );
}

function isPreset(text: string): text is keyof typeof PRESETS {
  return Object.hasOwn(PRESETS, text);
}

function presetOf(scopes: Scope[]): string {
  const same = (preset: readonly Scope[]) =>
    preset.length === scopes.length && preset.every((scope) => scopes.includes(scope));
  return Object.entries(PRESETS).find(([, preset]) => same(preset))?.[0] ?? 'custom';
}
