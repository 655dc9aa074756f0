import { ECDH } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { PersonSessions } from '../../logins/sessions/person-sessions';
import { SessionHolder } from '../../logins/sessions/session.dto';
import { EndpointUrlRefused } from '../../outgoing/address-policy';
import { PushState, SetPushAddress, TestPush } from './push-address.dto';
import { PushAddress, PushAddressesRepository } from './push-addresses.repository';
import { PushSender } from './push-sender';
import { PushServices } from './push-services';

const POINT_BYTES = 65;
const AUTH_BYTES = 16;

const TEST_TEXTS = {
  en: { title: 'It works', body: 'This browser shows notices of the inbox.' },
  de: { title: 'Es funktioniert', body: 'Dieser Browser zeigt Benachrichtigungen des Posteingangs.' },
};
const TEST_PATH = '/account';

/** Turns notices in the browser of a login session on and off. */
@Injectable()
export class PushAddressesService {
  constructor(
    private readonly database: Database,
    private readonly sessions: PersonSessions,
    private readonly addresses: PushAddressesRepository,
    private readonly services: PushServices,
    private readonly sender: PushSender,
    private readonly budgets: WorkBudgets,
  ) {}

  /** Returns whether notices are pushed to the browser of the holder's session. */
  async getState({ sessionId }: Pick<SessionHolder, 'sessionId'>): Promise<PushState> {
    const { publicKey } = this.services;
    return { publicKey, isOn: publicKey !== null && (await this.addresses.has(sessionId)) };
  }

  /**
   * Stores the push address of the browser of the holder's session, until the session ends. A person has at
   * most ten addresses; a further one replaces the oldest.
   * @throws AppError INVALID_BODY, UNAUTHENTICATED; NOT_FOUND: the service pushes no notices
   */
  async set(holder: SessionHolder, input: SetPushAddress): Promise<void> {
    const given = validate(SetPushAddress, input);
    this.requireKeys();
    const address = this.check(given);
    await this.database.transaction(async (tx) => {
      await this.sessions.lock(tx, holder);
      await this.addresses.set(tx, holder.personId, { sessionId: holder.sessionId, ...address });
    });
  }

  /** Deletes the push address of the holder's session. */
  async delete({ sessionId }: SessionHolder): Promise<void> {
    await this.database.transaction((tx) => this.addresses.delete(tx, sessionId));
  }

  /**
   * Pushes a notice to the browser of the holder's session, for a person who wants to see whether it arrives.
   * @returns whether the browser's push service has taken the notice
   * @throws AppError INVALID_BODY, RATE_LIMITED; NOT_FOUND: the session has no push address
   */
  async test({ personId, sessionId }: SessionHolder, input: TestPush): Promise<{ isTaken: boolean }> {
    const { locale } = validate(TestPush, input);
    this.requireKeys();
    if (!(await this.addresses.has(sessionId))) throw AppError.notFound('Push address');
    const notice = { id: newId(), ...TEST_TEXTS[locale], path: TEST_PATH };
    const send = () => this.sender.sendToSession(personId, sessionId, notice);
    return { isTaken: await this.budgets.waitOutside('tests', personId, send) };
  }

  private requireKeys(): void {
    if (!this.sender.isConfigured) throw AppError.notFound('Push address');
  }

  private check({ endpoint, p256dh, auth }: SetPushAddress): PushAddress {
    if (!isPoint(p256dh)) throw AppError.invalidBody('p256dh', 'wrong_form');
    if (bytesOf(auth)?.length !== AUTH_BYTES) throw AppError.invalidBody('auth', 'wrong_form');
    try {
      return { endpoint: this.services.parse(endpoint).href, p256dh, auth };
    } catch (error) {
      if (!(error instanceof EndpointUrlRefused)) throw error;
      const detail = { field: 'endpoint', ...error.fault };
      throw new AppError('INVALID_BODY', `${error.fault.message}.`, [detail]);
    }
  }
}

/** Returns the bytes of a text in base64url; null for another text. */
function bytesOf(text: string): Buffer | null {
  return /^[\w-]+$/.test(text) ? Buffer.from(text, 'base64url') : null;
}

/** Reports whether a text is a point of the curve P-256, without which a notice can't be encrypted. */
function isPoint(text: string): boolean {
  const bytes = bytesOf(text);
  if (bytes?.length !== POINT_BYTES) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}
