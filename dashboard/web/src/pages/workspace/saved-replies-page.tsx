import { Button, Code, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Page, SavedReply, SavedReplyVariable } from '../../api/types';
import { useChange, useMayManage, useRead } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { ConfirmDialog, Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { PageLayout } from '../../common/page';
import { useTexts } from '../../i18n/locale';

const VARIABLES: readonly SavedReplyVariable[] = [
  'contact.firstName',
  'contact.name',
  'agent.name',
  'workspace.name',
];

export function SavedRepliesPage() {
  const { savedReplies: texts, common } = useTexts();
  const mayManage = useMayManage();
  const replies = useRead<Page<SavedReply>>('saved-replies');
  const [editing, setEditing] = useState<SavedReply | 'new' | null>(null);
  const [deleting, setDeleting] = useState<SavedReply | null>(null);
  const columns: Column<SavedReply>[] = [
    {
      header: texts.name,
      cell: ({ name }) => (
        <Text component="bdi" size="sm" display="block" w="max-content" maw="14rem" className="breakable">
          {name}
        </Text>
      ),
    },
    {
      header: texts.body,
      cell: ({ body }) => (
        <Text size="sm" lineClamp={2} className="breakable" dir="auto">
          {body}
        </Text>
      ),
    },
    {
      header: common.actions,
      isActions: true,
      cell: (reply) =>
        mayManage && (
          <Group gap="xs" wrap="nowrap" justify="end">
            <Button
              size="compact-sm"
              variant="default"
              aria-label={texts.editNamed(reply.name)}
              onClick={() => setEditing(reply)}
            >
              {texts.edit}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={texts.deleteNamed(reply.name)}
              onClick={() => setDeleting(reply)}
            >
              {texts.delete}
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <PageLayout
      title={texts.title}
      about={texts.about}
      actions={mayManage && <Button onClick={() => setEditing('new')}>{texts.create}</Button>}
    >
      <DataTable
        name={texts.title}
        query={replies}
        columns={columns}
        rowKey={({ id }) => id}
        empty={texts.none}
      />
      {editing && <EditDialog reply={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
      {deleting && <DeleteDialog reply={deleting} onClose={() => setDeleting(null)} />}
    </PageLayout>
  );
}

function EditDialog({ reply, onClose }: { reply: SavedReply | null; onClose: () => void }) {
  const { savedReplies: texts, common } = useTexts();
  const [name, setName] = useState(reply?.name ?? '');
  const [body, setBody] = useState(reply?.body ?? '');
  const save = useChange(
    (at) =>
      reply
        ? api.patch(`${at}/saved-replies/${reply.id}`, { name, body })
        : api.post(`${at}/saved-replies`, { name, body }),
    common.saved,
  );
  return (
    <Dialog title={reply ? texts.editNamed(reply.name) : texts.create} onClose={onClose} size="lg">
      <Form
        action={common.save}
        isPending={save.isPending}
        isDisabled={name.trim() === '' || body.trim() === ''}
        error={save.error}
        onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
        onCancel={onClose}
      >
        <TextInput
          label={texts.name}
          description={texts.nameAdvice}
          maxLength={80}
          autoComplete="off"
          dir="auto"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faultOf(save.error, 'name')}
        />
        <Textarea
          label={texts.body}
          autosize
          minRows={4}
          maxRows={14}
          maxLength={4096}
          dir="auto"
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
          error={faultOf(save.error, 'body')}
        />
        <Stack gap={4}>
          <Text size="sm">{texts.variables}</Text>
          {VARIABLES.map((variable) => (
            <Text key={variable} size="sm">
              <Code>{`{{${variable}}}`}</Code> {texts.variable[variable]}
            </Text>
          ))}
          <Text size="sm">
            <Code>{'{{contact.firstName|there}}'}</Code> {texts.fallback}
          </Text>
        </Stack>
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ reply, onClose }: { reply: SavedReply; onClose: () => void }) {
  const { savedReplies: texts } = useTexts();
  const remove = useChange((at) => api.delete(`${at}/saved-replies/${reply.id}`));
  return (
    <ConfirmDialog
      title={texts.deleteNamed(reply.name)}
      action={texts.delete}
      isPending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
    >
      {texts.deleteAdvice}
    </ConfirmDialog>
  );
}
