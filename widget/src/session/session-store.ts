export interface StoredSession {
  /** Browser-side name of the visitor: `user:<id>`, or `anonymous:<uuid>`. */
  owner: string;
  /** Token of the session; null until the service has answered. */
  token: string | null;
  /** Time of the last renewal by this device's clock, which may be wrong but runs at the right pace. */
  renewedAt: number;
  /** Name and e-mail that the page gave with `identify`, to see what has changed since. */
  profile: string | null;
  /** Values of the form that an anonymous visitor filled in; null before. */
  said: { name?: string; email?: string } | null;
}

/** Makes a session without a token. */
export function newSession(owner: string): StoredSession {
  return { owner, token: null, renewedAt: 0, profile: null, said: null };
}

/**
 * Session of this browser's visitor, shared by its tabs. If storage is refused, the session lives in this
 * page alone.
 */
export class SessionStore {
  /** Session in memory, once storage has refused it. */
  private memory: StoredSession | null = null;

  constructor(private readonly key: string) {}

  read(): StoredSession | null {
    if (this.memory) return this.memory;
    try {
      return JSON.parse(localStorage.getItem(this.key)!) as StoredSession | null;
    } catch {
      // Storage is refused, or the page has written there.
      return null;
    }
  }

  write(session: StoredSession): void {
    try {
      localStorage.setItem(this.key, JSON.stringify(session));
      this.memory = null;
    } catch {
      // Storage is refused, or full.
      this.memory = session;
    }
  }

  remove(): void {
    this.memory = null;
    try {
      localStorage.removeItem(this.key);
    } catch {
      // Storage is refused, so nothing is stored.
    }
  }

  /** Calls the listener when another tab changes the session. */
  onChange(listener: () => void): void {
    addEventListener('storage', ({ key }) => {
      if (key === this.key || key === null) listener();
    });
  }
}
