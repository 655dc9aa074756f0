import { toJson } from '../json';

type StorageName = 'localStorage' | 'sessionStorage';

/**
 * Returns a stored value; null if there is none, storage is refused or `isStored` rejects the value, for
 * example because the page has overwritten it.
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

/** Stores a value; null removes the stored one. Returns false if storage is refused or full. */
export function writeStored(storage: StorageName, key: string, value: object | null): boolean {
  try {
    if (value) window[storage].setItem(key, toJson(value));
    else window[storage].removeItem(key);
    return true;
  } catch {
    return false;
  }
}
