import { Button, List, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { RedeliveryResult } from '../../api/types';
import { useChange } from '../../api/workspace';
import { useAnnounce } from '../../common/announcer';
import { Dialog } from '../../common/dialogs';
import { ErrorNotice, Reason } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';

export function RedeliverSelected({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const texts = useTexts();
  const announce = useAnnounce();
  const [refused, setRefused] = useState<RedeliveryResult[]>([]);
  const redeliver = useChange((at) =>
    api.post<{ data: RedeliveryResult[] }>(`${at}/deliveries/redeliver`, { ids }),
  );
  const start = () =>
    redeliver.mutate(undefined, {
      onSuccess: ({ data }) => {
        const faults = data.filter(({ error }) => error !== null);
        setRefused(faults);
        announce(texts.redeliver.started(data.length - faults.length));
        onDone();
      },
    });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={ids.length === 0}
        loading={redeliver.isPending}
        onClick={start}
      >
        {texts.redeliver.selected(ids.length)}
      </Button>
      {redeliver.error && (
        <Dialog title={texts.redeliver.selected(ids.length)} onClose={() => redeliver.reset()}>
          <ErrorNotice error={redeliver.error} />
        </Dialog>
      )}
      {refused.length > 0 && (
        <Dialog title={texts.redeliver.refused(refused.length)} onClose={() => setRefused([])}>
          <List size="sm">
            {refused.map(({ id, error }) => (
              <List.Item key={id}>
                <Text size="xs" ff="monospace">
                  {id}
                </Text>
                {error && <Reason error={error} />}
              </List.Item>
            ))}
          </List>
        </Dialog>
      )}
    </>
  );
}
