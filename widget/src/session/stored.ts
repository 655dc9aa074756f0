type StorageName = 'localStorage' | 'sessionStorage';

/**
 * Returns a value that the widget has stored; null when there is none, the page has written something else
 * there, or storage is refused.
 */
export function readStored<Stored>(
  storage: StorageName,
  key: string,
  isStored: (parts: Partial<Record<keyof Stored, unknown>>) => boolean,
): Stored | null {
  try {
    const stored = JSON.parse(window[storage].getItem(key)!) as Stored | null;
    return isStored({ ...stored }) ? stored : null;
  } catch {
    return null;
  }
}

/** Stores a value, or removes the present one. Returns false when storage is refused, or full. */
export function writeStored(storage: StorageName, key: string, value: object | null): boolean {
  try {
    if (value) window[storage].setItem(key, JSON.stringify(value));
    else window[storage].removeItem(key);
    return true;
  } catch {
    return false;
  }
}
