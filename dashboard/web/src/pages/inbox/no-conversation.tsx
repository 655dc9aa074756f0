import { Center, EmptyState } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { useTexts } from '../../i18n/locale';
import classes from './inbox.module.css';

export function NoConversation() {
  const { inbox } = useTexts();
  return (
    <Center className={classes.pane}>
      <EmptyState
        icon={<IconInbox size={32} stroke={1.4} aria-hidden />}
        title={inbox.choose}
        description={inbox.chooseAdvice}
      />
    </Center>
  );
}
