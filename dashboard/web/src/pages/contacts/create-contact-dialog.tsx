import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import type { ContactSummary, CreateContact } from '../../api/types';
import { useChange, useWorkspace } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';

const FIELDS = ['name', 'email', 'phone'] as const;

export function CreateContactDialog({ onClose }: { onClose: () => void }) {
  const { contacts } = useTexts();
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const [values, setValues] = useState({ name: '', email: '', phone: '' });
  const create = useChange<CreateContact, ContactSummary>(
    (at, input) => api.post(`${at}/contacts`, input),
    contacts.created,
  );
  const given = Object.fromEntries(
    FIELDS.map((field) => [field, values[field].trim()]).filter(([, value]) => value !== ''),
  ) as CreateContact;
  const submit = () =>
    create.mutate(given, {
      onSuccess: ({ id }) =>
        void navigate({ to: '/w/$slug/contacts/$contactId', params: { slug, contactId: id } }),
    });
  return (
    <Dialog title={contacts.create} onClose={onClose}>
      <Form
        action={contacts.create}
        onSubmit={submit}
        onCancel={onClose}
        isPending={create.isPending}
        isDisabled={Object.keys(given).length === 0}
        error={create.error}
      >
        {FIELDS.map((field, index) => (
          <TextInput
            key={field}
            label={contacts.field[field]}
            value={values[field]}
            onChange={({ currentTarget: { value } }) => setValues({ ...values, [field]: value })}
            error={faultOf(create.error, field)}
            inputMode={field === 'email' ? 'email' : field === 'phone' ? 'tel' : 'text'}
            dir="auto"
            autoComplete="off"
            data-autofocus={index === 0 || undefined}
          />
        ))}
      </Form>
    </Dialog>
  );
}
