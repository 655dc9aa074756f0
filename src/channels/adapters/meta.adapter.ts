import { Connection, HookRequest } from './channel-adapter';
import { answerHandshake, isSignedBy } from './meta-webhook';

/** What every one of Meta's channels needs: the token sends, the secret signs, and the verify token sets a hook. */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** How Meta's channels prove who calls, and who is called. */
export abstract class MetaAdapter<Credentials extends MetaCredentials> {
  verify({ credentials }: Connection<Credentials>, request: HookRequest): boolean {
    return isSignedBy(request, credentials.appSecret);
  }

  handshake({ credentials }: Connection<Credentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }
}
