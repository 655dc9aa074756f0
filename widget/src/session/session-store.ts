export interface StoredSession {
  /** This browser's name for the visitor: `user:<id>`, or `anonymous:<uuid>`. */
  owner: string;
  /** Null until the service has answered. */
  token: string | null;
  /** By this device's clock, which may be wrong but goes on. */
  renewedAt: number;
  /** The name and e-mail that the page gave with `identify`: what changed is sent again. */
  profile: string | null;
  /** What an anonymous visitor has written into the form; null before. */
  said: { name?: string; email?: string } | null;
}

/** Before the service has answered. */
export function newSession(owner: string): StoredSession {
  return { owner, token: null, renewedAt: 0, profile: null, said: null };
}

/** The session of this browser's visitor, shared by the tabs; where storage is refused, of this page alone. */
export class SessionStore {
  /** Used once storage has refused a session. */
  private memory: StoredSession | null = null;

  constructor(private readonly key: string) {}

  read(): StoredSession | null {
    if (this.memory) return this.memory;
    try {
      return parse(localStorage.getItem(this.key));
    } catch {
      // Refused.
      return null;
    }
  }

  write(session: StoredSession): void {
    try {
      localStorage.setItem(this.key, JSON.stringify(session));
      this.memory = null;
    } catch {
      // Refused, or full.
      this.memory = session;
    }
  }

  remove(): void {
    this.memory = null;
    try {
      localStorage.removeItem(this.key);
    } catch {
      // Refused: nothing is stored.
    }
  }

  /** Another tab has changed it. */
  onChange(listener: () => void): void {
    addEventListener('storage', ({ key }) => {
      if (key === this.key || key === null) listener();
    });
  }
}

/** What an unknown hand has written there counts as nothing. */
function parse(text: string | null): StoredSession | null {
  try {
    const session = JSON.parse(text ?? 'null') as StoredSession | null;
    return typeof session?.owner === 'string' ? session : null;
  } catch {
    return null;
  }
}
