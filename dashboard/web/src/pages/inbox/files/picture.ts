import { toQuery } from '../../../api/client';
import type { Attachment } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';

/** Types of pictures that each browser draws. */
const DRAWN = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
/** Most pixels of a picture that the page loads, because a browser takes four bytes for each. */
const MAX_PIXELS = 50_000_000;

/** Reports whether an attachment is a stored picture that the page shows. */
export function isPicture({ kind, state, contentType, width, height }: Attachment): boolean {
  if (kind !== 'IMAGE' || state !== 'READY' || width === null || height === null) return false;
  return DRAWN.includes(contentType ?? '') && width * height <= MAX_PIXELS;
}

/** Returns a function that makes the address of an attachment's bytes, or of its small picture or voice. */
export function useContentPath() {
  const { id: workspaceId } = useWorkspace();
  return (id: string, query: { variant?: 'rendition'; save?: 'yes' } = {}): string =>
    `/api/workspaces/${workspaceId}/attachments/${id}/content${toQuery(query)}`;
}
