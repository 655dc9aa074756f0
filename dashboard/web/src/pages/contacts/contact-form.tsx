import { ActionIcon, Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { api, ApiError } from '../../api/client';
import type { AttributeValue, Contact, UpdateContact } from '../../api/types';
import type * as service from '../../api/types';
import { useChange } from '../../api/workspace';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { LeaveGuard } from '../../common/leave-guard';
import { useTexts } from '../../i18n/locale';
import { textOf } from './contact-names';
import classes from './contacts.module.css';
import { useFreshContact } from './use-contact';

// The type makes the compiler refuse any number other than the server's.
const MAX_ATTRIBUTES: typeof service.MAX_ATTRIBUTES = 50;

const FIELDS = ['name', 'email', 'phone'] as const;
type Field = (typeof FIELDS)[number];

interface Attribute {
  /** Key of the row, which does not change while the name is typed. */
  key: number;
  name: string;
  value: string;
}

interface Draft extends Record<Field, string> {
  attributes: Attribute[];
}

/** Edits a contact. If another person has saved the contact meanwhile, also shows that person's values. */
export function ContactForm({ contact, onDone }: { contact: Contact; onDone: () => void }) {
  const { contacts, common } = useTexts();
  const [base, setBase] = useState(contact);
  const [theirs, setTheirs] = useState<Contact | null>(null);
  const [draft, setDraft] = useState(() => draftOf(contact));
  const readAgain = useFreshContact(contact.id);
  const save = useChange<UpdateContact>(
    (at, change) => api.patch(`${at}/contacts/${contact.id}`, change),
    common.saved,
  );
  const change = changeOf(base, draft);
  const isChanged = Object.keys(change).length > 0;
  const submit = () => {
    if (!isChanged) return onDone();
    save.mutate(
      { updatedAt: base.updatedAt, ...change },
      { onSuccess: onDone, onError: (error) => void keepBoth(error) },
    );
  };
  /** Applies another person's changes after a conflict, except in fields that this person has changed. */
  const keepBoth = async (error: unknown) => {
    if (!isConflict(error)) return;
    const fresh = await readAgain();
    if (fresh.erasedAt) return;
    const [before, now] = [draftOf(base), draftOf(fresh)];
    const isMine = (field: keyof Draft) => JSON.stringify(draft[field]) !== JSON.stringify(before[field]);
    setDraft({
      name: isMine('name') ? draft.name : now.name,
      email: isMine('email') ? draft.email : now.email,
      phone: isMine('phone') ? draft.phone : now.phone,
      attributes: isMine('attributes') ? draft.attributes : now.attributes,
    });
    setTheirs(fresh);
    setBase(fresh);
  };
  const error = isConflict(save.error) && theirs ? null : save.error;
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });

  return (
    <Form action={common.save} onSubmit={submit} onCancel={onDone} isPending={save.isPending} error={error}>
      <LeaveGuard hasEntered={isChanged} />
      {theirs && isConflict(save.error) && (
        <Alert color="yellow" role="alert" title={contacts.editedMeanwhile}>
          {contacts.editedMeanwhileAdvice}
        </Alert>
      )}
      {FIELDS.map((field, index) => (
        <TextInput
          key={field}
          label={contacts.field[field]}
          value={draft[field]}
          onChange={({ currentTarget: { value } }) => set({ [field]: value })}
          error={faultOf(save.error, field)}
          description={descriptionOf(field)}
          inputMode={field === 'email' ? 'email' : field === 'phone' ? 'tel' : 'text'}
          dir="auto"
          autoComplete="off"
          {...(index === 0 && { 'data-autofocus': true, autoFocus: true })}
        />
      ))}
      <fieldset className={classes.attributes}>
        <legend>{contacts.attributes}</legend>
        <Stack gap="xs">
          {draft.attributes.map((attribute) => (
            <Group key={attribute.key} gap="xs" wrap="nowrap">
              <TextInput
                aria-label={contacts.attributeName}
                placeholder={contacts.attributeName}
                className={classes.attributeName}
                value={attribute.name}
                dir="auto"
                autoComplete="off"
                onChange={({ currentTarget: { value } }) => setAttribute({ ...attribute, name: value })}
              />
              <TextInput
                aria-label={contacts.attributeValue(attribute.name)}
                placeholder={contacts.value}
                value={attribute.value}
                dir="auto"
                autoComplete="off"
                className={classes.value}
                onChange={({ currentTarget: { value } }) => setAttribute({ ...attribute, value })}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={contacts.removeAttribute(attribute.name)}
                onClick={() =>
                  set({ attributes: draft.attributes.filter(({ key }) => key !== attribute.key) })
                }
              >
                <IconX size={16} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          {faultOf(save.error, 'attributes') && (
            <Text size="xs" c="var(--mantine-color-error)">
              {faultOf(save.error, 'attributes')}
            </Text>
          )}
          <Button
            size="xs"
            variant="subtle"
            className={classes.edit}
            disabled={draft.attributes.length >= MAX_ATTRIBUTES}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() =>
              set({
                attributes: [...draft.attributes, { key: nextKey(draft.attributes), name: '', value: '' }],
              })
            }
          >
            {contacts.addAttribute}
          </Button>
        </Stack>
      </fieldset>
    </Form>
  );

  function setAttribute(changed: Attribute) {
    set({ attributes: draft.attributes.map((one) => (one.key === changed.key ? changed : one)) });
  }

  function descriptionOf(field: Field) {
    const other = theirs?.[field] ?? '';
    if (theirs && other !== draft[field]) return contacts.isNow(other || contacts.unknown);
    return field !== 'phone' && base.verified.includes(field) ? contacts.verifiedEdit : undefined;
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.reason.reason === 'contact_edited';
}

function draftOf({ name, email, phone, attributes }: Contact): Draft {
  return {
    name: name ?? '',
    email: email ?? '',
    phone: phone ?? '',
    attributes: Object.entries(attributes).map(([key, value], index) => ({
      key: index,
      name: key,
      value: textOf(value),
    })),
  };
}

function nextKey(attributes: Attribute[]): number {
  return Math.max(-1, ...attributes.map(({ key }) => key)) + 1;
}

/** Returns the fields in which a draft differs from the contact. An emptied field is null. */
function changeOf(base: Contact, draft: Draft): Omit<UpdateContact, 'updatedAt'> {
  const before = draftOf(base);
  const fields = FIELDS.filter((field) => draft[field].trim() !== before[field].trim()).map((field) => [
    field,
    draft[field].trim() || null,
  ]);
  const change = Object.fromEntries(fields) as Omit<UpdateContact, 'updatedAt'>;
  const rows = draft.attributes.filter(({ name, value }) => name.trim() !== '' || value.trim() !== '');
  const attributes = Object.fromEntries(
    rows.map(({ name, value }): [string, AttributeValue] => [name.trim(), valueOf(base, name.trim(), value)]),
  );
  return JSON.stringify(attributes) === JSON.stringify(base.attributes) ? change : { ...change, attributes };
}

/** Returns an attribute's value. A number or boolean whose text was not changed keeps its type. */
function valueOf({ attributes }: Contact, name: string, text: string): AttributeValue {
  const before = attributes[name];
  const isSame = (typeof before === 'number' || typeof before === 'boolean') && String(before) === text;
  return isSame ? before : text.trim();
}
