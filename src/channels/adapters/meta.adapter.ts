import { Injectable } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Config } from '../../config/config';
import { CheckedCredentials, Connection, HookRequest } from './channel-adapter';
import { CredentialText } from './credential-text';
import { GraphApi } from './graph-api';
import { answerHandshake, isSignedBy, verifyTokenOf } from './meta-webhook';

/** What every one of Meta's channels needs: the token sends, the secret signs, and the verify token sets a hook. */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** What of them is given alike on every channel. What an access token may look like depends on where it is sent. */
export class MetaCredentialsInput {
  @CredentialText(200)
  appSecret: string;

  @IsOptional()
  @CredentialText(200)
  verifyToken?: string;
}

/** What Meta's channels share: how credentials are completed, and how Meta proves who calls, and we who is called. */
@Injectable()
export abstract class MetaAdapter<Credentials extends MetaCredentials> {
  constructor(
    protected readonly graph: GraphApi,
    protected readonly config: Config,
  ) {}

  verify({ credentials }: Connection<Credentials>, request: HookRequest): boolean {
    return isSignedBy(request, credentials.appSecret);
  }

  handshake({ credentials }: Connection<Credentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }

  /** What `check` answers, of credentials that look right: with a verify token, to be entered at Meta. */
  protected checked<Input extends MetaCredentialsInput>(
    externalId: string,
    input: Input,
    previous: Connection<Credentials> | undefined,
  ): CheckedCredentials<Input & { verifyToken: string }> {
    const verifyToken = verifyTokenOf(input.verifyToken, previous?.credentials);
    const credentials = { ...input, verifyToken };
    return { externalId, credentials, settings: {}, reveal: { verifyToken }, expireAt: null };
  }
}
