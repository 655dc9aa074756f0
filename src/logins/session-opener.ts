import { Injectable } from '@nestjs/common';
import { Origin } from '../common/principal';
import { Transaction } from '../database/transaction';
import { KnownBrowsersRepository } from './known-browsers.repository';
import { LoggedIn } from './login.dto';
import { LoginAudit } from './login-audit';
import { LoginSessionsRepository } from './login-sessions.repository';
import { hashOf, hashToken, newToken } from './login-tokens';
import { PeopleRepository } from './people.repository';

/** Opens sessions, for whoever has shown everything that the login needs. */
@Injectable()
export class SessionOpener {
  constructor(
    private readonly people: PeopleRepository,
    private readonly sessions: LoginSessionsRepository,
    private readonly browsers: KnownBrowsersRepository,
    private readonly audit: LoginAudit,
  ) {}

  /** The caller holds the person's lock. */
  async open(
    tx: Transaction,
    personId: string,
    browserToken: string | undefined,
    origin: Origin | undefined,
  ): Promise<LoggedIn> {
    const token = newToken();
    const sessionId = await this.sessions.insert(tx, personId, hashToken(token), origin);
    const newBrowserToken = await this.remember(tx, personId, browserToken);
    await this.people.markLoggedIn(tx, personId);
    await this.audit.append(tx, personId, { action: 'logged_in', origin });
    return { status: 'logged_in', personId, sessionId, token, browserToken: newBrowserToken };
  }

  /** @returns null when the browser is known already */
  private async remember(
    tx: Transaction,
    personId: string,
    browserToken: string | undefined,
  ): Promise<string | null> {
    const known = hashOf(browserToken);
    if (known && (await this.browsers.renew(tx, personId, known))) return null;
    const token = newToken();
    await this.browsers.insert(tx, personId, hashToken(token));
    return token;
  }
}
