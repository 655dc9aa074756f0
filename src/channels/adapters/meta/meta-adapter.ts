import { Injectable } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { Config } from '../../../config/config';
import { CheckedCredentials, Connection, HookRequest } from '../channel-adapter';
import { CredentialText } from '../support/credential-text';
import { GraphApi } from './graph-api';
import { answerHandshake, isSignedBy, verifyTokenOf } from './meta-webhook';

/** The token sends, the app secret signs, and the verify token proves a hook's address. */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** Without the access token: its form depends on the channel. */
export class MetaCredentialsInput {
  @CredentialText(200)
  appSecret: string;

  @IsOptional()
  @CredentialText(200)
  verifyToken?: string;
}

/** Credentials, signatures and handshakes, equal on all of Meta's channels. */
@Injectable()
export abstract class MetaAdapter<Credentials extends MetaCredentials> {
  constructor(
    protected readonly graph: GraphApi,
    protected readonly config: Config,
  ) {}

  verify(secret: string, request: HookRequest): boolean {
    return isSignedBy(request, secret);
  }

  secretsOf({ credentials }: Connection<Credentials>): string[] {
    return [credentials.appSecret];
  }

  handshake({ credentials }: Connection<Credentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }

  /** The result of `check` for valid input, with a verify token to enter at Meta. */
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
