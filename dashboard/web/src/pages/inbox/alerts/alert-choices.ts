import { useSyncExternalStore } from 'react';

/** Choices of a person for the alerts of this browser. */
interface AlertChoices {
  sound: boolean;
  notifications: boolean;
  /** Whether a notification shows the first words of the message. */
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
    // Another program has written a value that is no choice.
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

/** Returns the choices of this browser. All are off at first. */
export function useAlertChoices(): AlertChoices {
  return useSyncExternalStore(subscribe, () => choices);
}

export function chooseAlert(change: Partial<AlertChoices>): void {
  setAll({ ...choices, ...change });
  try {
    localStorage.setItem(NAME, JSON.stringify(choices));
  } catch {
    // The storage is full: the choice lives as long as the page.
  }
}

/** Reports whether the browser lets this page show notifications. */
export function mayNotify(): boolean {
  return 'Notification' in window && Notification.permission === 'granted';
}
