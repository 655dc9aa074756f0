import { isRefusedRequest, statusOf } from '../protocol/service-client';
import type { VisitorSession } from '../session/visitor-session';
import { fileToUpload, type Outbox } from './outbox';
import type { OutboxRecord } from './outbox-record';

/**
 * Deletes a cancelled message and its uploads from the service, and then its record. The service may have
 * stored the message while it was cancelled.
 */
export async function takeBack(record: OutboxRecord, outbox: Outbox, session: VisitorSession): Promise<true> {
  const { clientMessageId, files = [] } = record;
  const remove = (path: string) =>
    session.call('DELETE', path).then(
      () => true,
      (error: unknown) => {
        if (statusOf(error) !== 404 && !isRefusedRequest(error)) throw error;
      },
    );
  // A message whose files are not uploaded was never sent. The files of a stored one are deleted with it.
  if (fileToUpload(record) || !(await remove(`/messages/${clientMessageId}`)))
    for (const { uploadId } of files) if (uploadId) await remove(`/uploads/${uploadId}`);
  await outbox.forget(record);
  return true;
}
