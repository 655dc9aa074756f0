import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsOptional, Length } from 'class-validator';
import {
  CheckedCredentials,
  Connection,
  HookRequest,
  OutboundMessage,
  SendOutcome,
  Verdicts,
} from '../channel-adapter';
import { isSameSecret } from '../constant-time';
import { CredentialText, faultUnlessEmpty } from '../credential-text';
import { ProviderObject } from '../provider-values';
import { GraphApi, GraphRequest } from './graph-api';

/**
 * Credentials of an account at Meta. Requests to Meta carry `accessToken`, Meta signs its requests with
 * `appSecret`, and sends `verifyToken` when it verifies a hook's URL.
 */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** Minimum and maximum length of a verify token. A shorter token could be guessed. */
const VERIFY_TOKEN_LENGTH = { min: 16, max: 200 };

export class MetaCredentialsInput {
  @CredentialText(200)
  appSecret: string;

  @IsOptional()
  @Length(
    VERIFY_TOKEN_LENGTH.min,
    VERIFY_TOKEN_LENGTH.max,
    faultUnlessEmpty('verify_token_length', VERIFY_TOKEN_LENGTH),
  )
  verifyToken?: string;
}

/** Implements the common part of the WhatsApp, Messenger and Instagram adapters. */
@Injectable()
export abstract class MetaAdapter<Credentials extends MetaCredentials> {
  protected abstract readonly verdicts: Verdicts;

  constructor(protected readonly graph: GraphApi) {}

  send({ credentials }: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome> {
    return this.graph.send(this.makeSendRequest(credentials, message), this.verdicts, this.readMessageId);
  }

  listSecrets({ credentials }: Connection<Credentials>): string[] {
    return [credentials.appSecret];
  }

  verify(secret: string, request: HookRequest): boolean {
    return isSignedBy(request, secret);
  }

  handshake({ credentials }: Connection<Credentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }

  protected abstract makeSendRequest(credentials: Credentials, message: OutboundMessage): GraphRequest;

  protected abstract readMessageId(this: void, answer: ProviderObject): string | null;

  /** Adds a verify token to the credentials. The operator must enter this token at Meta. */
  protected complete<Input extends MetaCredentialsInput>(
    externalId: string,
    input: Input,
    previous: Connection<Credentials> | undefined,
  ): CheckedCredentials<Input & { verifyToken: string }> {
    const verifyToken = chooseVerifyToken(input.verifyToken, previous?.credentials);
    const credentials = { ...input, verifyToken };
    return { externalId, credentials, settings: {}, reveal: { verifyToken }, expireAt: null };
  }
}

/** Chooses a verify token: the given one, else the one before a rotation, else a random one. */
export function chooseVerifyToken(given: string | undefined, previous?: { verifyToken: string }): string {
  return given ?? previous?.verifyToken ?? randomBytes(24).toString('base64url');
}

/** Reports whether the body is signed (SHA-256). Ignores the older header `X-Hub-Signature` (SHA-1). */
export function isSignedBy(
  { headers, rawBody }: Pick<HookRequest, 'headers' | 'rawBody'>,
  appSecret: string,
): boolean {
  const given = headers['x-hub-signature-256'];
  const signature = createHmac('sha256', appSecret).update(rawBody).digest('hex');
  return typeof given === 'string' && isSameSecret(given, `sha256=${signature}`);
}

/** Returns the challenge that Meta expects if it verifies a hook's URL; null for a wrong verify token. */
export function answerHandshake(verifyToken: string, query: Record<string, unknown>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null;
  return isSameSecret(token, verifyToken) ? challenge : null;
}
