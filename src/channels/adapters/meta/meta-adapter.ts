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
 * Credentials of an account at Meta: the token sends, the app secret signs, and the verify token proves a
 * hook's address.
 */
export interface MetaCredentials {
  accessToken: string;
  appSecret: string;
  verifyToken: string;
}

/** Shortest and longest verify token. A shorter one could be guessed. */
const VERIFY_TOKEN_LENGTH = { min: 16, max: 200 };

/** Credentials that operators enter for every channel of Meta, beside the access token. */
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

/**
 * Adapts Meta's channels, which differ in their requests, their events and the meaning of their error codes.
 */
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

  /** Returns the id of a sent message from the answer to its request; null if the answer has none. */
  protected abstract readMessageId(this: void, answer: ProviderObject): string | null;

  /** Completes checked credentials with a verify token, which the operator enters at Meta. */
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

/**
 * Chooses the token that Meta returns when it verifies a hook's address: the given one, or else the one
 * before a rotation, or else a random one.
 */
export function chooseVerifyToken(given: string | undefined, previous?: { verifyToken: string }): string {
  return given ?? previous?.verifyToken ?? randomBytes(24).toString('base64url');
}

/**
 * Reports whether a request's body was signed with an app's secret. The older header `X-Hub-Signature`
 * (SHA-1) does not count.
 */
export function isSignedBy(
  { headers, rawBody }: Pick<HookRequest, 'headers' | 'rawBody'>,
  appSecret: string,
): boolean {
  const given = headers['x-hub-signature-256'];
  const signature = createHmac('sha256', appSecret).update(rawBody).digest('hex');
  return typeof given === 'string' && isSameSecret(given, `sha256=${signature}`);
}

/**
 * Returns the challenge from Meta's query, the answer with which Meta accepts a hook's address; null for a
 * wrong verify token.
 */
export function answerHandshake(verifyToken: string, query: Record<string, unknown>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null;
  return isSameSecret(token, verifyToken) ? challenge : null;
}
