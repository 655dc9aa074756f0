import type { ChannelFileLimits, FileForm, FileKind } from '../../../api/types';

/** Reason why a chosen file can't be sent. */
export type FileRefusal =
  | { why: 'empty' | 'type' | 'unreadable' | 'lost' }
  | { why: 'too_large'; maxBytes: number };

const FORM_OF_KIND: Record<FileKind, FileForm> = {
  IMAGE: 'image',
  AUDIO: 'audio',
  VIDEO: 'video',
  FILE: 'file',
};

/** Returns the largest file that a channel takes in any form, in bytes. */
export function maxBytesOf({ forms }: ChannelFileLimits): number {
  return Math.max(...Object.values(forms).map((form) => form?.maxBytes ?? 0));
}

/** Returns why a channel does not take a chosen file, as far as its size tells; undefined if it may. */
export function refusalBySize(limits: ChannelFileLimits, size: number): FileRefusal | undefined {
  if (size === 0) return { why: 'empty' };
  const maxBytes = maxBytesOf(limits);
  return size > maxBytes ? { why: 'too_large', maxBytes } : undefined;
}

/** Returns why a channel does not take an uploaded file in any form; undefined if it takes it. */
export function refusalOf(
  { forms }: ChannelFileLimits,
  { kind, contentType, size }: { kind: FileKind; contentType: string; size: number },
): FileRefusal | undefined {
  const taking = [forms[FORM_OF_KIND[kind]], forms.file].filter(
    (form) => form !== null && (form.types === null || form.types.includes(contentType)),
  );
  if (taking.length === 0) return { why: 'type' };
  const maxBytes = Math.max(...taking.map((form) => form!.maxBytes));
  return size > maxBytes ? { why: 'too_large', maxBytes } : undefined;
}
