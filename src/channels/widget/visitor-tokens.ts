import { createHash, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors, type JWTPayload, jwtVerify, type JWTVerifyOptions, SignJWT } from 'jose';
import { Config } from '../../config/config';
import { Visitor, Widget } from './visitor';

const ALGORITHM = 'HS256';
const KEY_BYTES = 32;
/** Name from which the key of visitors' tokens is derived, so that no other signed data is valid as one. */
const KEY_PURPOSE = 'widget visitor tokens';
const DAY_SECONDS = 24 * 60 * 60;
const LIFETIME_SECONDS = DAY_SECONDS;
/** Seconds after its issue in which an anonymous visitor's token can renew the session. */
const RENEWABLE_SECONDS = 90 * DAY_SECONDS;

/** Prefix of the `externalId` of logged-in visitors. */
export const LOGGED_IN_PREFIX = 'user:';

type TokenWidget = Pick<Widget, 'id' | 'tenantId' | 'credentials'>;

export interface IssuedToken {
  token: string;
  /** Time until which the token authenticates requests. */
  expiresAt: Date;
  /** Time until which the token can renew the session. */
  renewableUntil: Date;
}

export interface TokenOwner {
  tenantId: string;
  connectionId: string;
  externalId: string;
}

/**
 * Issues and verifies visitors' tokens, JWTs for one visitor of one widget. Signs with the first configured
 * key, and accepts signatures by any configured key.
 */
@Injectable()
export class VisitorTokens {
  private readonly keys: ReadonlyMap<string, Uint8Array>;
  private readonly currentKeyId: string;

  constructor({ secretsKeys }: Config) {
    this.keys = new Map(secretsKeys.map(({ id, key }) => [id, derive(key)]));
    this.currentKeyId = secretsKeys[0]!.id;
  }

  async issue(widget: TokenWidget, externalId: string, now: Date = new Date()): Promise<IssuedToken> {
    // JWTs contain times in whole seconds.
    const issuedAt = Math.floor(now.getTime() / 1000);
    const expiresAt = issuedAt + LIFETIME_SECONDS;
    const renewableUntil = isLoggedIn(externalId) ? expiresAt : issuedAt + RENEWABLE_SECONDS;
    const token = await new SignJWT({
      tenant: widget.tenantId,
      voucher: secretFingerprint(widget, externalId),
    })
      .setProtectedHeader({ alg: ALGORITHM, kid: this.currentKeyId })
      .setAudience(widget.id)
      .setSubject(externalId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.keys.get(this.currentKeyId)!);
    return {
      token,
      expiresAt: new Date(expiresAt * 1000),
      renewableUntil: new Date(renewableUntil * 1000),
    };
  }

  /** Verifies a request's token; null if it is invalid, expired, or of another widget. */
  verify(widget: TokenWidget, token: string): Promise<Visitor | null> {
    return this.read(widget, token, 0);
  }

  /** Verifies a token that renews its session. An anonymous visitor's token may have expired. */
  async verifyForRenewal(widget: TokenWidget, token: string): Promise<Visitor | null> {
    const visitor = await this.read(widget, token, RENEWABLE_SECONDS - LIFETIME_SECONDS);
    if (visitor && isLoggedIn(visitor.externalId)) return this.verify(widget, token);
    return visitor;
  }

  /** Returns a valid token's visitor and widget. Does not check whether the widget is still connected. */
  async readOwner(token: string): Promise<TokenOwner | null> {
    const payload = await this.readPayload(token, { requiredClaims: ['sub', 'aud', 'exp'] });
    if (!payload) return null;
    const { sub, aud, tenant } = payload as { sub: string; aud: string; tenant: string };
    return { tenantId: tenant, connectionId: aud, externalId: sub };
  }

  /** Verifies a token that is valid or has expired no more than `overdueSeconds` ago. */
  private async read(widget: TokenWidget, token: string, overdueSeconds: number): Promise<Visitor | null> {
    const payload = await this.readPayload(token, {
      audience: widget.id,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: overdueSeconds,
    });
    if (!payload) return null;
    const { sub: externalId, exp } = payload as { sub: string; exp: number };
    const hasCurrentSecret = (payload['voucher'] ?? undefined) === secretFingerprint(widget, externalId);
    if (payload['tenant'] !== widget.tenantId || !hasCurrentSecret) return null;
    return { externalId, expiresAt: new Date(exp * 1000) };
  }

  private async readPayload(token: string, demands: JWTVerifyOptions): Promise<JWTPayload | null> {
    try {
      const options = { ...demands, algorithms: [ALGORITHM] };
      return (await jwtVerify(token, ({ kid = '' }) => this.findKey(kid), options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  private findKey(id: string): Uint8Array {
    const key = this.keys.get(id);
    if (!key) throw new errors.JWSInvalid('signed with a key that is not configured');
    return key;
  }
}

function isLoggedIn(externalId: string): boolean {
  return externalId.startsWith(LOGGED_IN_PREFIX);
}

function derive(key: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES));
}

/**
 * Returns a digest of the identity secret for a logged-in visitor's token, so that a rotation invalidates it.
 * Otherwise, a session from a leaked secret could be renewed for ever.
 */
function secretFingerprint({ credentials }: TokenWidget, externalId: string): string | undefined {
  if (!isLoggedIn(externalId)) return undefined;
  return createHash('sha256')
    .update(`${KEY_PURPOSE} ${credentials.identitySecret}`)
    .digest('base64url')
    .slice(0, 16);
}
