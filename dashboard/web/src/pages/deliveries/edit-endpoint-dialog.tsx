import { Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Endpoint } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { useTexts } from '../../i18n/locale';
import { EndpointFields, inputOf, valuesOf } from '../webhooks/endpoint-fields';
import { ALL_EVENTS } from '../webhooks/endpoint-rules';

/** Edits an endpoint. The server refuses the edit if another person has changed the endpoint meanwhile. */
export function EditEndpointDialog({
  endpoint,
  onClose,
  onEdited,
}: {
  endpoint: Endpoint;
  onClose: () => void;
  /** Receives whether the person next wants to give the endpoint a new secret. */
  onEdited: (rolls: boolean) => void;
}) {
  const texts = useTexts();
  const [before] = useState(endpoint);
  const [values, setValues] = useState(() => valuesOf(endpoint));
  const [rolls, setRolls] = useState(false);
  const edit = useChange(
    (at) =>
      api.patch(`${at}/webhook-endpoints/${before.id}`, { version: before.version, ...inputOf(values) }),
    texts.webhooks.edited,
  );
  const isMoved = values.url.trim() !== before.url;
  const takesFewer =
    !values.events.includes(ALL_EVENTS) && before.events.some((type) => !values.events.includes(type));
  const parts = Object.keys(texts.webhooks.contextParts).length;
  const getsMore = values.context && before.context && before.contextParts.length < parts;
  const mayRoll = isMoved && before.previousSecretEndsAt === null;
  return (
    <Dialog title={texts.webhooks.edit} about={before.name ?? before.url} onClose={onClose} size="lg">
      <Form
        action={texts.common.save}
        isPending={edit.isPending}
        isDisabled={values.events.length === 0}
        error={edit.error}
        onSubmit={() => edit.mutate(undefined, { onSuccess: () => onEdited(mayRoll && rolls) })}
        onCancel={onClose}
      >
        <EndpointFields
          values={values}
          present={before.url}
          error={edit.error}
          onChange={setValues}
          urlNote={
            isMoved && (
              <Stack gap="xs" mt="xs">
                <Text size="sm">{texts.webhooks.movedAdvice}</Text>
                {mayRoll && (
                  <Checkbox
                    label={texts.webhooks.rollNext}
                    checked={rolls}
                    onChange={(event) => setRolls(event.currentTarget.checked)}
                  />
                )}
              </Stack>
            )
          }
        />
        {getsMore && <Text size="sm">{texts.webhooks.moreContextAdvice}</Text>}
        {takesFewer && <Text size="sm">{texts.webhooks.fewerAdvice}</Text>}
      </Form>
    </Dialog>
  );
}
