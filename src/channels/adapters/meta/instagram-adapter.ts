import { Injectable } from '@nestjs/common';
import { IsOptional, Matches } from 'class-validator';
import { validate } from '../../../common/validate';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  HookRequest,
  InboundEvent,
  OutboundMessage,
  ProviderFault,
  SendOutcome,
} from '../channel-adapter';
import { jsonOf } from '../support/hook-body';
import { CredentialText, unlessEmpty } from '../support/credential-text';
import { GraphRequest } from './graph-api';
import { INSTAGRAM_VERDICTS } from './instagram-codes';
import { readMessaging } from './meta-messaging';
import { MetaAdapter, MetaCredentials, MetaCredentialsInput } from './meta-adapter';
import { numberOf, textOf } from '../support/provider-values';

export interface InstagramCredentials extends MetaCredentials {
  accountId: string;
  /** Of the Facebook app that owns the Instagram app: Meta signs with either secret. */
  facebookAppSecret?: string;
}

class InstagramCredentialsInput extends MetaCredentialsInput {
  @Matches(/^\d{1,30}$/, { message: unlessEmpty('must be the id of a professional account: digits') })
  accountId: string;

  @CredentialText(1000)
  accessToken: string;

  @IsOptional()
  @CredentialText(200)
  facebookAppSecret?: string;
}

const TOKEN_LIFETIME_MS = 60 * 24 * 60 * 60 * 1000;

/** `messages` includes echoes. */
const FIELDS = 'messages,messaging_postbacks,message_reactions,messaging_seen';

export interface InstagramSettings {
  /** When this service received the token, which may be older. */
  accessTokenSince: string;
  /** An operator's token does not show its age. Only a refreshed one comes with its expiry. */
  isExpiryAssumed: boolean;
}

export type RefreshOutcome =
  | { kind: 'REFRESHED'; checked: CheckedCredentials<InstagramCredentials> }
  | { kind: 'REAUTH' | 'FAILED'; fault: ProviderFault };

/** The Instagram API with Instagram Login. */
@Injectable()
export class InstagramAdapter
  extends MetaAdapter<InstagramCredentials>
  implements HookedAdapter<InstagramCredentials>
{
  readonly channel = 'INSTAGRAM';
  /** Meta's limit for texts of one account (developers.facebook.com/docs/graph-api/overview/rate-limiting). */
  readonly limits = { perSecond: 100, conversationIntervalMs: 0 };
  /** Echoes arrive within seconds. */
  readonly unknownHoldMs = 30_000;

  check(
    input: unknown,
    previous?: Connection<InstagramCredentials>,
  ): CheckedCredentials<InstagramCredentials> {
    const given = validate(InstagramCredentialsInput, input);
    return { ...this.checked(given.accountId, given, previous), ...tokenLifetime(TOKEN_LIFETIME_MS, true) };
  }

  /** Subscribes the app to the account's events. The app's owner enters the hook at Meta, once for the app. */
  async register({ credentials }: Connection<InstagramCredentials>): Promise<void> {
    const request = this.request('POST', credentials, 'subscribed_apps');
    const params = { subscribed_fields: FIELDS };
    await this.graph.require({ ...request, params }, 'INSTAGRAM_GRAPH_URL');
  }

  async unregister({ credentials }: Connection<InstagramCredentials>): Promise<void> {
    await this.graph.require(this.request('DELETE', credentials, 'subscribed_apps'), 'INSTAGRAM_GRAPH_URL');
  }

  /** Instagram returns no id of ours, so an echo is recognized by its own id or its text. */
  send(
    { credentials }: Connection<InstagramCredentials>,
    { recipientId, body }: OutboundMessage,
  ): Promise<SendOutcome> {
    const data = { recipient: { id: recipientId }, message: { text: body } };
    const request = this.request('POST', credentials, 'messages');
    return this.graph.send({ ...request, data }, INSTAGRAM_VERDICTS, ({ message_id }) => textOf(message_id));
  }

  override secretsOf({ credentials }: Connection<InstagramCredentials>): string[] {
    const { appSecret, facebookAppSecret } = credentials;
    return [appSecret, ...(facebookAppSecret === undefined ? [] : [facebookAppSecret])];
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): InboundEvent[] {
    return readMessaging(jsonOf(request), maxEvents);
  }

  /** Replaces the token, which must be valid and at least 24 hours old. */
  async refresh({ externalId, credentials }: Connection<InstagramCredentials>): Promise<RefreshOutcome> {
    const answer = await this.graph.ask(
      {
        method: 'GET',
        url: `${this.config.providerUrls.INSTAGRAM_GRAPH_URL}/refresh_access_token`,
        accessToken: credentials.accessToken,
        tokenIn: 'query',
        params: { grant_type: 'ig_refresh_token' },
      },
      INSTAGRAM_VERDICTS,
    );
    if (answer.kind !== 'ANSWERED') {
      return { kind: answer.kind === 'REAUTH' ? 'REAUTH' : 'FAILED', fault: answer.fault };
    }
    const accessToken = textOf(answer.body.access_token);
    const seconds = numberOf(answer.body.expires_in);
    if (accessToken === null || seconds === null || seconds <= 0) {
      return { kind: 'FAILED', fault: { providerCode: null, message: 'Meta gave no new token.' } };
    }
    const renewed = { ...credentials, accessToken };
    const checked = { externalId, credentials: renewed, reveal: {}, ...tokenLifetime(seconds * 1000, false) };
    return { kind: 'REFRESHED', checked };
  }

  private request(
    method: GraphRequest['method'],
    { accountId, accessToken }: InstagramCredentials,
    path: string,
  ): GraphRequest {
    const { providerUrls, metaGraphVersion } = this.config;
    const url = `${providerUrls.INSTAGRAM_GRAPH_URL}/${metaGraphVersion}/${accountId}/${path}`;
    return { method, url, accessToken, tokenIn: 'query' };
  }
}

function tokenLifetime(lifetimeMs: number, isExpiryAssumed: boolean) {
  const now = Date.now();
  const settings: InstagramSettings = { accessTokenSince: new Date(now).toISOString(), isExpiryAssumed };
  return { settings: { ...settings }, expireAt: new Date(now + Math.min(lifetimeMs, TOKEN_LIFETIME_MS)) };
}
