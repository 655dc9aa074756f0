import { readStored, writeStored } from './stored';

export interface StoredSession {
  /** Browser-side name of the visitor: `user:<id>`, or `anonymous:<uuid>`. */
  owner: string;
  /** Token of the session; null until the service has answered. */
  token: string | null;
  /** Time of the last renewal by this device's clock, which may be wrong but runs at the right pace. */
  renewedAt: number;
  /** Name and e-mail that the page gave with `identify`, to notice later changes. */
  profile: string | null;
  /** Values of the form that an anonymous visitor filled in; null before. */
  said: { name?: string; email?: string } | null;
}

/** Makes a session without a token. */
export function newSession(owner: string): StoredSession {
  return { owner, token: null, renewedAt: 0, profile: null, said: null };
}

/** Reports whether stored values make up a session, each of its type. */
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

/**
 * Session of this browser's visitor, shared by its tabs. If storage is refused, the session lives in this
 * page alone.
 */
export class SessionStore {
  /** Session in memory, once storage has refused it. */
  private memory: StoredSession | null = null;

  constructor(private readonly key: string) {}

  read(): StoredSession | null {
    return this.memory ?? readStored<StoredSession>('localStorage', this.key, isSession);
  }

  /** Stores a session, or removes the present one. */
  write(session: StoredSession | null): void {
    this.memory = writeStored('localStorage', this.key, session) ? null : session;
  }

  /** Calls the listener when another tab changes the session, until the signal aborts. */
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
