import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics/metrics';
import { KeyLookup } from '../rate-limit/key-lookup';
import { AuthenticatedSession, LoginSessionsRepository } from './login-sessions.repository';
import { hashOf } from './login-tokens';

/** Finds sessions by their tokens. */
@Injectable()
export class LoginSessionLookup {
  private readonly lookup: KeyLookup;

  constructor(
    private readonly sessions: LoginSessionsRepository,
    metrics: Metrics,
  ) {
    this.lookup = new KeyLookup('sessions', metrics, (hashes) => sessions.findActive(hashes));
  }

  /** @throws AppError UNAVAILABLE: too many unknown tokens wait */
  async find(token: string): Promise<AuthenticatedSession | null> {
    const hash = hashOf(token);
    return hash && this.lookup.find(hash, () => this.sessions.authenticate(hash));
  }
}
