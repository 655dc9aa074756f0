import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { api } from '../../../api/client';
import type { Note } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { addNewest, removeItem } from '../inbox-cache';
import { usePages } from '../use-inbox';

export function useNotes(conversationId: string) {
  return usePages<Note>(['notes', conversationId], `conversations/${conversationId}/notes`);
}

/** Returns a mutation that adds a note. A text that is sent again after a failure is added only once. */
export function useCreateNote(conversationId: string, onCreated: () => void) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const tried = useRef({ body: '', key: '' });
  return useMutation({
    mutationFn: (body: string) => {
      if (tried.current.body !== body) tried.current = { body, key: crypto.randomUUID() };
      const path = `/workspaces/${workspaceId}/conversations/${conversationId}/notes`;
      return api.postOnce<Note>(path, { body }, tried.current.key);
    },
    onSuccess: (note) => {
      tried.current = { body: '', key: '' };
      onCreated();
      addNewest(queries, workspaceId, ['notes', conversationId], note);
    },
  });
}

export function useDeleteNote(conversationId: string, onDeleted: () => void) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (noteId: string) => api.delete(`/workspaces/${workspaceId}/notes/${noteId}`),
    onSuccess: (_, noteId) => {
      onDeleted();
      removeItem(queries, workspaceId, ['notes', conversationId], noteId);
    },
  });
}
