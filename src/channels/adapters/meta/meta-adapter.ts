import { Injectable } from '@nestjs/common';
import { IsOptional, Length } from 'class-validator';
import {
  CheckedCredentials,
  Connection,
  HookRequest,
  HookEvent,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';
import { CredentialText, faultUnlessEmpty } from '../support/credential-text';
import { parseJson } from '../support/hook-body';
import { ProviderObject } from '../support/provider-values';
import { Verdicts } from '../support/verdict';
import { GraphApi, GraphRequest } from './graph-api';
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

/** Fewest characters of a verify token, so that it can't be guessed, and most. */
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

/** Requests to the Graph API with which credentials are proved, and a hook is registered and unregistered. */
export interface MetaRegistration {
  /** Request that reads the account. */
  prove: GraphRequest;
  /** Request that registers the hook; null if Meta has no call for it. */
  register: GraphRequest | null;
  /** Request that unregisters the hook; null if Meta has no call for it. */
  unregister: GraphRequest | null;
}

/**
 * Adapts Meta's channels, which differ in their requests, their events and the meaning of their error codes.
 */
@Injectable()
export abstract class MetaAdapter<Credentials extends MetaCredentials> {
  protected abstract readonly verdicts: Verdicts;
  /** Returns the id of a sent message from the answer to its request; null if it has none. */
  protected abstract readonly readMessageId: (body: ProviderObject) => string | null;
  protected abstract readonly readEvents: (body: unknown, maxEvents: number) => HookEvent[];

  constructor(protected readonly graph: GraphApi) {}

  prove({ credentials }: Connection<Credentials>): Promise<void> {
    return this.graph.require(this.makeRegistration(credentials).prove);
  }

  async register({ credentials }: Connection<Credentials>): Promise<void> {
    const { register } = this.makeRegistration(credentials);
    if (register) await this.graph.require(register);
  }

  async unregister({ credentials }: Connection<Credentials>): Promise<void> {
    const { unregister } = this.makeRegistration(credentials);
    if (unregister) await this.graph.require(unregister);
  }

  send({ credentials }: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome> {
    const request = this.makeSendRequest(credentials, message);
    return this.graph.send(request, this.verdicts, this.readMessageId);
  }

  verify(secret: string, request: HookRequest): boolean {
    return isSignedBy(request, secret);
  }

  listSecrets({ credentials }: Connection<Credentials>): string[] {
    return [credentials.appSecret];
  }

  handshake({ credentials }: Connection<Credentials>, query: Record<string, unknown>): string | null {
    return answerHandshake(credentials.verifyToken, query);
  }

  parse(_connection: unknown, request: HookRequest, maxEvents: number): HookEvent[] {
    return this.readEvents(parseJson(request), maxEvents);
  }

  protected abstract makeRegistration(credentials: Credentials): MetaRegistration;

  protected abstract makeSendRequest(credentials: Credentials, message: OutboundMessage): GraphRequest;

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
