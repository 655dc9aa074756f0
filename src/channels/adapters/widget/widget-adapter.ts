import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsOptional,
  ValidateBy,
} from 'class-validator';
import { validatorFault } from '../../../common/error-texts';
import { newId } from '../../../common/ids';
import { validate } from '../../../common/validate';
import { TrimUnseen } from '../../../common/validators';
import { ANY_ORIGIN, WidgetCredentials, WidgetSettings } from './widget-settings';
import { WidgetSignal } from './widget-signal';
import {
  ChannelAdapter,
  CheckedCredentials,
  Connection,
  OutboundMessage,
  SendOutcome,
} from '../channel-adapter';

const MAX_ORIGINS = 100;
const IDENTITY_SECRET_BYTES = 32;

/** Reports whether a value is ANY_ORIGIN or an origin as browsers send it: no path, no default port. */
function isOrigin(value: unknown): boolean {
  if (value === ANY_ORIGIN) return true;
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, origin } = new URL(value);
  return /^https?:$/.test(protocol) && origin === value;
}

export class WidgetCredentialsInput {
  @ValidateBy(
    { name: 'isOrigin', validator: { validate: isOrigin } },
    { each: true, ...validatorFault('not_origin') },
  )
  @ArrayUnique({ message: 'must not name an origin twice' })
  @ArrayMaxSize(MAX_ORIGINS, { message: `must be at most ${MAX_ORIGINS} origins` })
  @ArrayNotEmpty({ message: 'must name at least one origin' })
  @IsArray({ message: 'must be a list of origins' })
  @TrimUnseen()
  allowedOrigins: string[];

  /** Whether a rotation keeps the secret that signs logged-in visitors' ids. */
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  keepIdentitySecret?: boolean;

  /** Whether visitors and agents see each other's presence (online, typing); true by default. */
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  showsPresence?: boolean;
}

/** Sends messages to the widget on a workspace's pages: publishes them to the visitor's event streams. */
@Injectable()
export class WidgetAdapter implements ChannelAdapter<WidgetCredentials> {
  readonly channel = 'WIDGET';
  readonly limits = { perSecond: 1000, conversationIntervalMs: 0 };
  readonly unknownHoldMs = 0;
  readonly refusesLater = false;

  constructor(private readonly signal: WidgetSignal) {}

  check(input: unknown, previous?: Connection<WidgetCredentials>): CheckedCredentials<WidgetCredentials> {
    const { allowedOrigins, keepIdentitySecret, showsPresence } = validate(WidgetCredentialsInput, input);
    const settings: WidgetSettings = { allowedOrigins, showsPresence: showsPresence ?? true };
    const externalId = previous?.externalId ?? newId();
    const base = { externalId, settings: { ...settings }, expireAt: null };
    if (previous && keepIdentitySecret) return { ...base, credentials: previous.credentials, reveal: {} };
    const identitySecret = randomBytes(IDENTITY_SECRET_BYTES).toString('hex');
    return { ...base, credentials: { identitySecret }, reveal: { identitySecret } };
  }

  prove(): Promise<void> {
    return Promise.resolve();
  }

  register(): Promise<void> {
    return Promise.resolve();
  }

  /** Closes the visitors' event streams, at once over Redis. If Redis is down, the next heartbeat does it. */
  async unregister({ id }: Connection<WidgetCredentials>): Promise<void> {
    await this.signal.sendChanged(id);
  }

  /** Publishes a message. Every failure can be retried, because a widget shows a repeated message once. */
  async send({ id }: Connection<WidgetCredentials>, message: OutboundMessage): Promise<SendOutcome> {
    const { messageId, recipientId: externalId } = message;
    try {
      await this.signal.sendMessage({ connectionId: id, externalId, messageId });
      return { kind: 'SENT', providerId: null };
    } catch (error) {
      const fault = {
        providerCode: null,
        message: `It could not be published: ${(error as Error).message}.`,
      };
      return { kind: 'RETRY', fault };
    }
  }
}
