import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../i18n/locale';

/** Shows buttons for older and newer pages of a list. The caller stores the cursor of the shown page. */
export function Pager({
  cursor,
  nextCursor,
  onMove,
}: {
  cursor: string | undefined;
  nextCursor: string | null | undefined;
  onMove: (cursor: string | undefined) => void;
}) {
  const [newer, setNewer] = useState<(string | undefined)[]>([]);
  const texts = useTexts();
  if (!cursor && !nextCursor) return null;

  const goOlder = () => {
    setNewer([...newer, cursor]);
    onMove(nextCursor!);
  };
  const goNewer = () => {
    setNewer(newer.slice(0, -1));
    onMove(newer.at(-1));
  };
  return (
    <Group justify="end" component="nav" aria-label={texts.common.pages}>
      <Button variant="default" disabled={!cursor} onClick={goNewer}>
        {newer.length > 0 ? texts.common.newer : texts.common.newest}
      </Button>
      <Button variant="default" disabled={!nextCursor} onClick={goOlder}>
        {texts.common.older}
      </Button>
    </Group>
  );
}
