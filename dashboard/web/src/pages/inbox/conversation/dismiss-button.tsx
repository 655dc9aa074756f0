import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useWorkspace } from '../../../api/workspace';
import { ErrorNotice } from '../../../common/error-notice';
import { useTexts } from '../../../i18n/locale';
import { refreshAfterAct } from '../list/cached-lists';

/** Shows a button that removes an undelivered reply from the inbox's view of such replies. */
export function DismissButton({ conversationId, messageId }: { conversationId: string; messageId: string }) {
  const { inbox } = useTexts();
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const path = `/workspaces/${workspaceId}/conversations/${conversationId}/dismissals`;
  const dismissal = useMutation({
    mutationFn: () => api.post(path, { messageId }),
    onSuccess: () => refreshAfterAct(queries, workspaceId, conversationId),
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        title={inbox.dismissAdvice}
        loading={dismissal.isPending}
        onClick={() => dismissal.mutate()}
      >
        {inbox.dismiss}
      </Button>
      <ErrorNotice error={dismissal.error} />
    </>
  );
}
