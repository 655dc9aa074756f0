type Place = 'localStorage' | 'sessionStorage';

/**
 * Returns what the widget has stored; null when there is nothing, the page has written something else there,
 * or storage is refused.
 */
export function readStored<Stored>(
  place: Place,
  key: string,
  isStored: (parts: Partial<Record<keyof Stored, unknown>>) => boolean,
): Stored | null {
  try {
    const stored = JSON.parse(window[place].getItem(key)!) as Stored | null;
    return isStored({ ...stored }) ? stored : null;
  } catch {
    return null;
  }
}

/** Stores a value, or removes the present one. Returns false when storage is refused, or full. */
export function writeStored(place: Place, key: string, value: object | null): boolean {
  try {
    if (value) window[place].setItem(key, JSON.stringify(value));
    else window[place].removeItem(key);
    return true;
  } catch {
    return false;
  }
}
