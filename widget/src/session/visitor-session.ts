import { toJson } from '../json';
import type { Identity } from '../page-api';
import { ServiceError, statusOf, type Method, type ServiceClient } from '../protocol/service-client';
import type { MessagePage, SessionAnswer } from '../protocol/types';
import type { SessionStore, StoredSession } from './session-store';

/** Milliseconds after which a token is renewed: half of its lifetime of 24 hours. */
const RENEW_AFTER_MS = 12 * 60 * 60 * 1000;

/** Thrown when another tab or the page has switched to another visitor, so that this session is over. */
class VisitorChanged extends Error {}

/** Begins and renews the session of one visitor, and adds its token to requests. */
export class VisitorSession {
  private pending: Promise<string> | null = null;
  private rejected: string | null = null;

  /**
   * @param onNewVisitor called when the service has replaced an anonymous visitor that it no longer knows
   */
  constructor(
    readonly owner: string,
    public identity: Identity | null,
    private readonly client: ServiceClient,
    private readonly store: SessionStore,
    private readonly onNewVisitor: () => void,
  ) {}

  /** Returns a valid token. If necessary, it begins or renews the session first. */
  token(): Promise<string> {
    const stored = this.stored();
    if (stored?.token && !this.isDue(stored)) return Promise.resolve(stored.token);
    return (this.pending ??= this.inTurn(() => this.obtain()).finally(() => (this.pending = null)));
  }

  /** Replaces the identity. A changed name or e-mail address is sent with the next request for a token. */
  identify(identity: Identity): void {
    this.identity = identity;
  }

  /** Records that the service has refused a token, so that the next call of `token` renews the session. */
  reject(token: string): void {
    this.rejected = token;
  }

  /** Sends a request with the visitor's token. */
  async call<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
    return this.retried(await this.token(), (token) =>
      this.client.call<Answer>(method, path, { token, body }),
    );
  }

  /** Sends the bytes of a file. */
  async upload(
    path: string,
    blob: Blob,
    signal: AbortSignal,
    onProgress: (part: number) => void,
  ): Promise<void> {
    return this.retried(await this.token(), (token) =>
      this.client.upload(path, token, blob, signal, onProgress),
    );
  }

  /** Reads the bytes of a file in the visitor's conversation. */
  async readFile(attachmentId: string, signal: AbortSignal): Promise<Blob> {
    const path = `/attachments/${attachmentId}/content`;
    return this.retried(await this.token(), (token) => this.client.readFile(path, token, signal));
  }

  /** Reads up to `limit` messages: the newest ones, or the next older ones after `cursor`. */
  readMessages(limit: number, cursor?: string): Promise<MessagePage> {
    return this.call('GET', `/messages?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
  }

  /** Runs `call`, and runs it once more with a new token if the service refuses the first token. */
  async retried<Answer>(token: string, call: (token: string) => Promise<Answer>): Promise<Answer> {
    try {
      return await call(token);
    } catch (error) {
      if (statusOf(error) !== 401) throw error;
      this.reject(token);
      return call(await this.token());
    }
  }

  private stored(): StoredSession | null {
    const stored = this.store.read();
    if (stored && stored.owner !== this.owner) throw new VisitorChanged();
    return stored;
  }

  private isDue({ token, renewedAt, profile }: StoredSession): boolean {
    const age = Date.now() - renewedAt;
    return token === this.rejected || age < 0 || age > RENEW_AFTER_MS || this.saysMoreThan(profile);
  }

  private saysMoreThan(profile: string | null): boolean {
    return this.identity !== null && profile !== profileOf(this.identity);
  }

  /** Runs `work` in one tab at a time, so that tabs that open together create one visitor only. */
  private async inTurn(work: () => Promise<string>): Promise<string> {
    if (!navigator.locks) return work();
    return navigator.locks.request(`chat-widget-session:${this.owner}`, work).catch((error: unknown) => {
      // A browser that refuses storage to a page also refuses Web Locks to it, so `work` runs without a lock.
      if ((error as Error).name === 'SecurityError') return work();
      throw error;
    });
  }

  private async obtain(): Promise<string> {
    const stored = this.stored();
    // Another tab may have renewed the session while this one waited for the lock.
    if (stored?.token && !this.isDue(stored)) return stored.token;
    const answer = (await this.renew(stored)) ?? (await this.createSession(stored));
    this.store.write({
      owner: this.owner,
      token: answer.token,
      renewedAt: Date.now(),
      profile: this.identity ? profileOf(this.identity) : (stored?.profile ?? null),
      said: this.stored()?.said ?? null,
    });
    return answer.token;
  }

  /** Renews the session. Returns null if a new session must begin instead. */
  private async renew(stored: StoredSession | null): Promise<SessionAnswer | null> {
    if (!stored?.token || this.saysMoreThan(stored.profile)) return null;
    try {
      return await this.client.call<SessionAnswer>('POST', '/sessions', { token: stored.token, body: {} });
    } catch (error) {
      if (statusOf(error) === 401) return null;
      throw error;
    }
  }

  /**
   * Begins a session.
   *
   * @throws ServiceError with status 401 if the identity is missing or the service refuses it
   */
  private async createSession(stored: StoredSession | null): Promise<SessionAnswer> {
    const { identity, owner } = this;
    if (!identity && owner.startsWith('user:'))
      throw new ServiceError(401, 'The session has expired: identify again.');
    const answer = await this.client.call<SessionAnswer>('POST', '/sessions', {
      body: identity ? { visitor: identity } : {},
    });
    if (!identity && stored?.token) this.onNewVisitor();
    return answer;
  }
}

function profileOf(identity: Identity): string {
  const { name, email } = { ...('jwt' in identity ? claimsOf(identity.jwt) : {}), ...identity };
  return toJson([name ?? null, email ?? null]);
}

/**
 * Returns the visitor's name in this browser, `user:<id>`, for an identity.
 *
 * @throws TypeError if the identity's JWT is malformed or has no `sub`
 */
export function ownerOf(identity: Identity): string {
  const id = 'jwt' in identity ? claimsOf(identity.jwt).sub : identity.id;
  if (!id) throw new TypeError('chatWidget.identify: the jwt has no sub.');
  return `user:${id}`;
}

export const isAnonymous = (owner: string): boolean => !owner.startsWith('user:');

export const newAnonymousOwner = (): string => `anonymous:${randomId()}`;

/** Returns a text of 128 random bits. It does not use crypto.randomUUID, which pages without HTTPS lack. */
export const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

interface Claims {
  sub?: string;
  name?: string;
  email?: string;
}

/** Returns the claims of a JWT without verifying its signature, because the service verifies it. */
function claimsOf(jwt: string): Claims {
  try {
    const base64 = jwt.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
  } catch {
    throw new TypeError('chatWidget.identify: the jwt is malformed.');
  }
}
