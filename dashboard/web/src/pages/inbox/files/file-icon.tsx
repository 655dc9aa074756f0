import {
  IconFileDescription,
  IconFileTypePdf,
  IconMovie,
  IconMusic,
  IconPolaroid,
} from '@tabler/icons-react';
import type { FileKind } from '../../../api/types';
import classes from './files.module.css';

const ICONS: Record<FileKind, typeof IconMusic> = {
  IMAGE: IconPolaroid,
  AUDIO: IconMusic,
  VIDEO: IconMovie,
  FILE: IconFileDescription,
};

const KINDS: Record<string, FileKind> = { image: 'IMAGE', audio: 'AUDIO', video: 'VIDEO' };

/** Shows a file's kind: by its bytes, or as long as they are unknown, by its type. */
export function FileIcon({ kind, type }: { kind?: FileKind | undefined; type: string | null }) {
  const guessed = KINDS[type?.split('/')[0] ?? ''] ?? 'FILE';
  const Icon = type === 'application/pdf' ? IconFileTypePdf : (ICONS[kind ?? guessed] ?? IconFileDescription);
  return (
    <span className={classes.icon}>
      <Icon size={22} stroke={1.5} aria-hidden />
    </span>
  );
}
