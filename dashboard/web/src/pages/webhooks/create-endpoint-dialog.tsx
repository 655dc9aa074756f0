import { useState } from 'react';
import { api } from '../../api/client';
import type { CreatedEndpoint } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { useTexts } from '../../i18n/locale';
import { EndpointFields, inputOf, NEW_ENDPOINT } from './endpoint-fields';

export function CreateEndpointDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (endpoint: CreatedEndpoint) => void;
}) {
  const texts = useTexts();
  const [values, setValues] = useState(NEW_ENDPOINT);
  const create = useChange((at) => api.post<CreatedEndpoint>(`${at}/webhook-endpoints`, inputOf(values)));
  return (
    <Dialog title={texts.webhooks.create} onClose={onClose} size="lg">
      <Form
        action={texts.webhooks.create}
        isPending={create.isPending}
        isDisabled={values.events.length === 0}
        error={create.error}
        onSubmit={() => create.mutate(undefined, { onSuccess: onCreated })}
        onCancel={onClose}
      >
        <EndpointFields values={values} error={create.error} onChange={setValues} />
      </Form>
    </Dialog>
  );
}
