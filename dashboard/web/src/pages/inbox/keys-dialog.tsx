import { Button } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';
import classes from './inbox.module.css';
import { areKeysOn, SEND_MODIFIER, turnKeys } from './use-keys';

const KEYS = [
  ['next', 'J'],
  ['previous', 'K'],
  ['open', 'Enter'],
  ['search', '/'],
  ['reply', 'R'],
  ['saved', '/'],
  ['note', 'N'],
  ['assign', 'A'],
  ['snooze', 'S'],
  ['close', 'E'],
  ['customer', 'I'],
  ['unread', 'U'],
  ['send', `${SEND_MODIFIER} + Enter`],
  ['keys', '?'],
] as const;

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { inbox } = useTexts();
  const [isOn, setOn] = useState(areKeysOn);
  return (
    <Dialog title={inbox.keys} onClose={onClose} size="sm">
      <dl className={classes.keys}>
        {KEYS.map(([name, key]) => (
          <div key={name}>
            <dt>{inbox.keyNames[name]}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <Button
        variant="default"
        mt="md"
        onClick={() => {
          turnKeys(!isOn);
          setOn(!isOn);
        }}
      >
        {isOn ? inbox.keysOff : inbox.keysOn}
      </Button>
    </Dialog>
  );
}
