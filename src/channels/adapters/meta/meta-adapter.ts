import { IsOptional } from 'class-validator';
import { CheckedCredentials, Connection, HookRequest } from '../channel-adapter';
import { CredentialText } from '../support/credential-text';
import { answerHandshake, chooseVerifyToken, isSignedBy } from './meta-webhook';

/**
 * Credentials of an account at Meta: the token sends, the app secret signs, and the verify token proves a
 * hook's address.
 */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** Input of the credentials that all of Meta's channels have, without the access token. */
export class MetaCredentialsInput {
  @CredentialText(200)
  appSecret: string;

  @IsOptional()
  @CredentialText(200)
  verifyToken?: string;
}

/** Checks credentials, signatures and handshakes, which are equal on all of Meta's channels. */
export abstract class MetaAdapter {
  verify(secret: string, request: HookRequest): boolean {
    return isSignedBy(request, secret);
  }

  listSecrets({ credentials }: Connection<MetaCredentials>): string[] {
    return [credentials.appSecret];
  }

  handshake({ credentials }: Connection<MetaCredentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }

  /** Completes valid input with a verify token, which the operator enters at Meta. */
  protected complete<Input extends MetaCredentialsInput>(
    externalId: string,
    input: Input,
    previous: Connection<MetaCredentials> | undefined,
  ): CheckedCredentials<Input & { verifyToken: string }> {
    const verifyToken = chooseVerifyToken(input.verifyToken, previous?.credentials);
    const credentials = { ...input, verifyToken };
    return { externalId, credentials, settings: {}, reveal: { verifyToken }, expireAt: null };
  }
}
