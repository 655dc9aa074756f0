import { ActionIcon } from '@mantine/core';
import { IconMail, IconMailOpened } from '@tabler/icons-react';
import { useTexts } from '../../../i18n/locale';
import type { useReadMark } from './use-read-mark';

export function UnreadToggle({ readMark }: { readMark: ReturnType<typeof useReadMark> }) {
  const { inbox } = useTexts();
  const Icon = readMark.isUnread ? IconMailOpened : IconMail;
  const label = readMark.isUnread ? inbox.markRead : inbox.markUnread;
  return (
    <ActionIcon size="lg" variant="default" aria-label={label} title={label} onClick={readMark.toggle}>
      <Icon size={18} stroke={1.6} aria-hidden />
    </ActionIcon>
  );
}
