import { useState } from 'react';

const STORAGE_KEY = 'dashboard-checklist-hidden';

/** Returns whether this browser hides the checklist of a workspace, and a function that hides it. */
export function useHiddenChecklist(workspaceId: string): [isHidden: boolean, hide: () => void] {
  const key = `${STORAGE_KEY}-${workspaceId}`;
  const [isHidden, setHidden] = useState(() => localStorage.getItem(key) !== null);
  const hide = () => {
    localStorage.setItem(key, 'true');
    setHidden(true);
    // The button that had the focus goes with the list.
    document.getElementById('content')?.focus({ preventScroll: true });
  };
  return [isHidden, hide];
}
