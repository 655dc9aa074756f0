import { useState } from 'react';

const STORAGE_KEY = 'dashboard-checklist-hidden';

export function useHiddenChecklist(workspaceId: string): [isHidden: boolean, hide: () => void] {
  const key = `${STORAGE_KEY}-${workspaceId}`;
  const [isHidden, setHidden] = useState(() => localStorage.getItem(key) !== null);
  const hide = () => {
    localStorage.setItem(key, 'true');
    setHidden(true);
    // Moves the focus, because the focused button disappears with the checklist.
    document.getElementById('content')?.focus({ preventScroll: true });
  };
  return [isHidden, hide];
}
