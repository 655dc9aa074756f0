import { useSyncExternalStore } from 'react';

interface AlertChoices {
  sound: boolean;
  notifications: boolean;
  /** Whether a notification contains the message's text. */
  preview: boolean;
}

const NAME = 'dashboard-alerts';
const NOTHING: AlertChoices = { sound: false, notifications: false, preview: false };

let choices = read();
const listeners = new Set<() => void>();

function read(): AlertChoices {
  try {
    return { ...NOTHING, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<AlertChoices>) };
  } catch {
    // The stored value is not JSON, because another program has written it.
    return NOTHING;
  }
}

function setAll(next: AlertChoices): void {
  choices = next;
  for (const notify of listeners) notify();
}

window.addEventListener('storage', ({ key }) => {
  if (key === null || key === NAME) setAll(read());
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useAlertChoices(): AlertChoices {
  return useSyncExternalStore(subscribe, () => choices);
}

export function chooseAlert(change: Partial<AlertChoices>): void {
  setAll({ ...choices, ...change });
  try {
    localStorage.setItem(NAME, JSON.stringify(choices));
  } catch {
    // If the storage is full, the choice is lost when the page is closed.
  }
}

export function mayNotify(): boolean {
  return 'Notification' in window && Notification.permission === 'granted';
}
