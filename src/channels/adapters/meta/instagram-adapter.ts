import { Injectable } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { validate } from '../../../common/validate';
import {
  CheckedCredentials,
  Connection,
  HookedAdapter,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { CredentialText, NumericId } from '../credential-text';
import { ProviderFault } from '../hook-events';
import { FileSending, OutboundFile } from '../outbound-file';
import { FILE_TIMEOUT_MS } from '../provider-http';
import { numberOf, ProviderObject, textOf } from '../provider-values';
import { MessagingAccount, MessagingAdapter, MessagingContent } from './messaging-adapter';
import { INSTAGRAM_VERDICTS } from './messaging-codes';
import { MetaCredentials, MetaCredentialsInput } from './meta-adapter';

const API = 'INSTAGRAM_GRAPH_URL';

export interface InstagramCredentials extends MetaCredentials {
  accountId: string;
  /** Secret of the Facebook app that owns the Instagram app. Meta signs with the secret of either app. */
  facebookAppSecret?: string;
}

class InstagramCredentialsInput extends MetaCredentialsInput {
  @NumericId('a professional account')
  accountId: string;

  @CredentialText(1000)
  accessToken: string;

  @IsOptional()
  @CredentialText(200)
  facebookAppSecret?: string;
}

const TOKEN_LIFETIME_MS = 60 * 24 * 60 * 60 * 1000;

export type RefreshOutcome =
  | { kind: 'REFRESHED'; checked: CheckedCredentials<InstagramCredentials> }
  | { kind: 'REAUTH' | 'FAILED'; fault: ProviderFault };

/** Sends and receives messages through the Instagram API with Instagram Login. */
@Injectable()
export class InstagramAdapter
  extends MessagingAdapter<InstagramCredentials>
  implements HookedAdapter<InstagramCredentials>
{
  readonly channel = 'INSTAGRAM';
  /**
   * Meta accepts 100 texts a second for an account
   * (developers.facebook.com/docs/graph-api/overview/rate-limiting).
   */
  readonly limits = { perSecond: 100, conversationIntervalMs: 0 };
  protected readonly verdicts = INSTAGRAM_VERDICTS;
  /** Kinds of events to which the service subscribes. `messages` includes reports of sent messages. */
  protected readonly fields = 'messages,message_edit,message_reactions,messaging_postbacks,messaging_seen';

  check(
    input: unknown,
    previous?: Connection<InstagramCredentials>,
  ): CheckedCredentials<InstagramCredentials> {
    const given = validate(InstagramCredentialsInput, input);
    return { ...this.complete(given.accountId, given, previous), ...tokenLifetime(TOKEN_LIFETIME_MS, true) };
  }

  override listSecrets({ credentials }: Connection<InstagramCredentials>): string[] {
    const { appSecret, facebookAppSecret } = credentials;
    return [appSecret, ...(facebookAppSecret === undefined ? [] : [facebookAppSecret])];
  }

  /** Sends a file by an address from which Instagram fetches it, because it takes no uploads. */
  async sendFile(
    { credentials }: Connection<InstagramCredentials>,
    file: OutboundFile,
    { begin, link }: FileSending,
  ): Promise<SendOutcome> {
    await begin();
    return this.postFile(credentials, file, { url: link() }, FILE_TIMEOUT_MS);
  }

  /** Requests a new token. Instagram refuses this if the old token has expired or is under 24 hours old. */
  async refresh({ externalId, credentials }: Connection<InstagramCredentials>): Promise<RefreshOutcome> {
    let answer: ProviderObject = {};
    const outcome = await this.graph.send(
      {
        method: 'GET',
        api: API,
        path: 'refresh_access_token',
        isUnversioned: true,
        accessToken: credentials.accessToken,
        tokenIn: 'query',
        params: { grant_type: 'ig_refresh_token' },
      },
      INSTAGRAM_VERDICTS,
      (body) => {
        answer = body;
        return '';
      },
    );
    if (outcome.kind !== 'SENT') {
      return { kind: outcome.kind === 'REAUTH' ? 'REAUTH' : 'FAILED', fault: outcome.fault };
    }
    const accessToken = textOf(answer.access_token);
    const seconds = numberOf(answer.expires_in);
    if (accessToken === null || seconds === null || seconds <= 0) {
      return { kind: 'FAILED', fault: { providerCode: null, message: 'Meta gave no new token.' } };
    }
    const renewed = { ...credentials, accessToken };
    const checked = { externalId, credentials: renewed, reveal: {}, ...tokenLifetime(seconds * 1000, false) };
    return { kind: 'REFRESHED', checked };
  }

  protected accountOf({ accountId, accessToken }: InstagramCredentials): MessagingAccount {
    return { api: API, id: accountId, accessToken };
  }

  /** Makes the body without the service's id, because Instagram has no field for it. */
  protected makeBody({ recipientId }: Omit<OutboundMessage, 'body'>, content: MessagingContent): object {
    return { recipient: { id: recipientId }, message: content };
  }
}

/**
 * Returns the settings and the expiry of a token that the service has just received.
 * @param isExpiryAssumed whether the lifetime is a guess; Meta reports it only with a refreshed token
 */
function tokenLifetime(lifetimeMs: number, isExpiryAssumed: boolean) {
  const now = Date.now();
  return {
    settings: { accessTokenSince: new Date(now).toISOString(), isExpiryAssumed },
    expireAt: new Date(now + Math.min(lifetimeMs, TOKEN_LIFETIME_MS)),
  };
}
