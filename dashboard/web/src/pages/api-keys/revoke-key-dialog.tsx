import { Anchor, List, NativeSelect, Radio, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import type { ApiKey, EndpointListItem, Page, RevokedApiKey, RevokeApiKey } from '../../api/types';
import { useChange, useRead, useWorkspace } from '../../api/workspace';
import { ConfirmDialog, Dialog } from '../../common/dialogs';
import { faultOf } from '../../common/error-notice';
import { Form } from '../../common/form';
import { useTexts } from '../../i18n/locale';
import { useApiKeyTexts } from './api-key-texts';

type Reason = RevokeApiKey['reason'];

/** Revokes a key. The reason that the person chooses decides whether the key's webhook endpoints go on. */
export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const apiKeys = useApiKeyTexts();
  const [reason, setReason] = useState<Reason | null>(null);
  const [newKey, setNewKey] = useState('');
  const [revoked, setRevoked] = useState<RevokedApiKey | null>(null);
  const others = useOtherKeys(apiKey);
  const revoke = useChange(
    (at, input: RevokeApiKey) => api.post<RevokedApiKey>(`${at}/api-keys/${apiKey.id}/revoke`, input),
    apiKeys.revokedDone,
  );
  if (revoked) return <RevokedDialog revoked={revoked} onClose={onClose} />;

  const replacedBy = newKey || others[0]?.id;
  const input: RevokeApiKey | null =
    reason === 'REPLACED' ? (replacedBy ? { reason, replacedBy } : null) : reason && { reason };
  const confirm = () =>
    input &&
    revoke.mutate(input, {
      onSuccess: (result) => (result.endpoints.length > 0 ? setRevoked(result) : onClose()),
    });
  return (
    <ConfirmDialog
      title={apiKeys.revokeNamed(apiKey.name)}
      action={apiKeys.revoke}
      name={apiKey.name}
      isReady={input !== null}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      <Stack>
        <Text size="sm">{apiKeys.revokeAdvice}</Text>
        <EndpointsOf apiKey={apiKey} />
        <Radio.Group
          label={apiKeys.revokeWhy}
          value={reason}
          onChange={(chosen) => setReason(chosen)}
          required
          error={faultOf(revoke.error, 'reason')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="LEAKED" label={apiKeys.leaked} description={apiKeys.leakedAdvice} />
            <Radio
              value="REPLACED"
              label={apiKeys.replaced}
              description={others.length > 0 ? apiKeys.replacedAdvice : apiKeys.noOtherKey}
              disabled={others.length === 0}
            />
          </Stack>
        </Radio.Group>
        {reason === 'REPLACED' && (
          <NativeSelect
            label={apiKeys.replacedBy}
            value={replacedBy}
            onChange={(event) => setNewKey(event.currentTarget.value)}
            data={others.map(({ id, name, preview }) => ({ value: id, label: `${name} (${preview})` }))}
            error={faultOf(revoke.error, 'replacedBy')}
          />
        )}
      </Stack>
    </ConfirmDialog>
  );
}

function useOtherKeys({ id }: ApiKey): ApiKey[] {
  const keys = useRead<Page<ApiKey>>('api-keys', {}, { refreshMs: false });
  const works = ({ revokedAt, expiresAt }: ApiKey) =>
    !revokedAt && (!expiresAt || Date.parse(expiresAt) > Date.now());
  return (keys.data?.data ?? []).filter((key) => key.id !== id && works(key));
}

function EndpointsOf({ apiKey: { id } }: { apiKey: ApiKey }) {
  const apiKeys = useApiKeyTexts();
  const endpoints = useRead<Page<EndpointListItem>>('webhook-endpoints', {}, { refreshMs: false });
  if (!endpoints.data) return null;
  const own = endpoints.data.data.filter((one) => one.madeBy?.id === id || one.urlSetBy?.id === id);
  if (own.length === 0) return <Text size="sm">{apiKeys.noEndpoints}</Text>;
  return (
    <div>
      <Text size="sm">{apiKeys.endpointsOf}</Text>
      <List size="sm" mt={4}>
        {own.map((endpoint) => (
          <List.Item key={endpoint.id} className="breakable">
            {labelOf(endpoint)}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function RevokedDialog({ revoked, onClose }: { revoked: RevokedApiKey; onClose: () => void }) {
  const texts = useTexts();
  const apiKeys = useApiKeyTexts();
  const { slug } = useWorkspace();
  return (
    <Dialog title={apiKeys.revokedDone} about={revoked.name} onClose={onClose} isQuestion>
      <Form action={texts.common.close} isPending={false} onSubmit={onClose}>
        <List size="sm">
          {revoked.endpoints.map((endpoint) => (
            <List.Item key={endpoint.id} className="breakable">
              <Anchor
                inherit
                renderRoot={(props) => (
                  <Link
                    {...props}
                    to="/w/$slug/settings/webhooks/$endpointId"
                    params={{ slug, endpointId: endpoint.id }}
                  />
                )}
              >
                {labelOf(endpoint)}
              </Anchor>
              {` – ${apiKeys.outcomes[endpoint.outcome]}`}
              {endpoint.knewSecret && endpoint.outcome !== 'HANDED_OVER' && (
                <Text size="sm">{apiKeys.rollSecret}</Text>
              )}
            </List.Item>
          ))}
        </List>
      </Form>
    </Dialog>
  );
}

function labelOf({ name, url }: { name: string | null; url: string }): string {
  return name ? `${name} (${url})` : url;
}
