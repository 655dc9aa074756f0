import { readStored, writeStored } from './stored';

export interface StoredSession {
  /** Name of the visitor in this browser: `user:<id>`, or `anonymous:<random id>`. */
  owner: string;
  /** Visitor token; null until the service has issued one. */
  token: string | null;
  /** Epoch milliseconds of the last renewal, by this device's clock. */
  renewedAt: number;
  /** JSON of the name and e-mail address that the service received; other values require a new session. */
  profile: string | null;
  /** Values that an anonymous visitor entered in the form; null if the form was not completed. */
  said: { name?: string; email?: string } | null;
}

export function newSession(owner: string): StoredSession {
  return { owner, token: null, renewedAt: 0, profile: null, said: null };
}

/** Reports whether a stored object has all fields of a session, with their types. */
export function isSession({
  owner,
  token,
  renewedAt,
  profile,
  said,
}: Partial<Record<keyof StoredSession, unknown>>): boolean {
  const texts = [token, profile, ...(Object.values(said ?? {}) as unknown[])];
  return (
    typeof owner === 'string' &&
    typeof renewedAt === 'number' &&
    texts.every((text) => text === null || typeof text === 'string')
  );
}

/** Stores the visitor's session in localStorage, for all tabs; in memory if storage is refused. */
export class SessionStore {
  /** Session that localStorage has refused to store; null if it accepted the latest write. */
  private memory: StoredSession | null = null;

  constructor(private readonly key: string) {}

  read(): StoredSession | null {
    return this.memory ?? readStored<StoredSession>('localStorage', this.key, isSession);
  }

  write(session: StoredSession | null): void {
    this.memory = writeStored('localStorage', this.key, session) ? null : session;
  }

  /** Calls the listener when another tab changes the session. Stops when the signal aborts. */
  onChange(listener: () => void, signal: AbortSignal): void {
    addEventListener(
      'storage',
      ({ key }) => {
        if (key === this.key || key === null) listener();
      },
      { signal },
    );
  }
}
