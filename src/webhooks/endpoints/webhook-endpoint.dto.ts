import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  ArrayNotEmpty,
  ArrayUnique,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { type Actor } from '../../access/principal';
import { IsNullable, IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { ALL_EVENTS, eventCatalog, isEventType } from '../../outbox/event-catalog';
import { CONTEXT_PARTS, type ContextPart } from '../context/context-parts';
import {
  DEACTIVATION_REASONS,
  type DeactivationReason,
  WebhookEndpointEntity,
} from './webhook-endpoint.entity';

export const MAX_ENDPOINT_RATE = 1_000;
export const MAX_ENDPOINT_NAME = 100;
export const MAX_ENDPOINT_DESCRIPTION = 500;

const IsSubscribable = () =>
  ValidateBy(
    {
      name: 'isSubscribable',
      validator: {
        validate: (name) => name === ALL_EVENTS || (typeof name === 'string' && isEventType(name)),
        defaultMessage: () => `must be among ${Object.keys(eventCatalog).join(', ')}, or be *`,
      },
    },
    { each: true },
  );

const AreEvents = () =>
  applyDecorators(
    ArrayNotEmpty({ message: 'must name at least one event, or be *' }),
    IsSubscribable(),
    ArrayUnique({ message: 'must not name an event twice' }),
  );
const IsRate = () => applyDecorators(Max(MAX_ENDPOINT_RATE), Min(1), IsInt());
const IsWords = (max: number) => applyDecorators(NotBlank(), IsStorableText(), MaxCharacters(max));

const URL = { format: 'uri', example: 'https://hooks.example.com/messaging' };
const EVENTS = {
  type: [String] as [StringConstructor],
  minItems: 1,
  uniqueItems: true,
  description:
    'Event types. A key may name those whose data it has the scope to read, so not `channel.status_changed`, ' +
    '`audit.event` or `*`.',
  example: ['message.created', 'conversation.updated'],
};
const CONTEXT = {
  example: false,
  description:
    'Whether each delivery has a fourth key, `context`: the conversation, its contact and the agent who wrote, as they ' +
    'are at the attempt. What the key that switches it on may not read is null.',
};
const RATE = { type: 'integer', minimum: 1, maximum: MAX_ENDPOINT_RATE, example: 50 } as const;
const NAME = { minLength: 1, maxLength: MAX_ENDPOINT_NAME, example: 'CRM' };
const DESCRIPTION = {
  minLength: 1,
  maxLength: MAX_ENDPOINT_DESCRIPTION,
  example: 'Copies messages to the CRM.',
};

/** Endpoint to be registered. */
@ApiSchema({ name: 'WebhookEndpointInput' })
export class CreateWebhookEndpoint {
  @ApiProperty({
    ...URL,
    description: 'Address with https, of a public host; port 443, or 1024 and above; without credentials.',
  })
  @IsString()
  url: string;

  /** Event types, or `*` for all. */
  @ApiProperty(EVENTS)
  @AreEvents()
  events: string[];

  @ApiPropertyOptional({
    ...RATE,
    description: 'Limit of deliveries a second, over all workers; no limit by default.',
  })
  @IsOptional()
  @IsRate()
  rateLimit?: number;

  @ApiPropertyOptional({ ...NAME, description: 'Name by which people know the endpoint; none by default.' })
  @IsOptional()
  @IsWords(MAX_ENDPOINT_NAME)
  name?: string;

  @ApiPropertyOptional({ ...DESCRIPTION, description: 'What the endpoint is for; none by default.' })
  @IsOptional()
  @IsWords(MAX_ENDPOINT_DESCRIPTION)
  description?: string;

  @ApiPropertyOptional({ ...CONTEXT, default: false })
  @IsOptional()
  @IsBoolean()
  context?: boolean;
}

/** Edit of an endpoint. What it does not give stays as it is. */
@ApiSchema({ name: 'WebhookEndpointChanges' })
export class UpdateWebhookEndpoint {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    example: 1,
    description:
      'The `version` of the endpoint that you edit: if its settings were changed since, the edit is refused with 409. ' +
      'Without it the edit applies to the endpoint as it is by now. A body with it alone is refused.',
  })
  @IsOptional()
  @Min(1)
  @IsInt()
  version?: number;

  @ApiPropertyOptional({ ...URL, description: 'Address, as of a new endpoint.' })
  @IsOptional()
  @IsString()
  url?: string;

  /** Event types, or `*` for all. */
  @ApiPropertyOptional(EVENTS)
  @IsOptional()
  @AreEvents()
  events?: string[];

  @ApiPropertyOptional({
    ...RATE,
    nullable: true,
    description: 'Limit of deliveries a second, over all workers; null for none.',
  })
  @IsNullable()
  @IsRate()
  rateLimit?: number | null;

  @ApiPropertyOptional({ ...NAME, type: String, nullable: true, description: 'Name; null for none.' })
  @IsNullable()
  @IsWords(MAX_ENDPOINT_NAME)
  name?: string | null;

  @ApiPropertyOptional({
    ...DESCRIPTION,
    type: String,
    nullable: true,
    description: 'What the endpoint is for; null for nothing.',
  })
  @IsNullable()
  @IsWords(MAX_ENDPOINT_DESCRIPTION)
  description?: string | null;

  @ApiPropertyOptional(CONTEXT)
  @IsOptional()
  @IsBoolean()
  context?: boolean;

  @ApiPropertyOptional({
    example: true,
    description:
      'False stops its deliveries, and what it is owed is cancelled. True starts them, for events from then on.',
  })
  @IsOptional()
  @IsBoolean()
  active?: boolean;
}

export class CheckUrl {
  @IsString()
  url: string;
}

export const MAX_GRACE_PERIOD_SECONDS = 7 * 24 * 60 * 60;
export const DEFAULT_GRACE_PERIOD_SECONDS = 24 * 60 * 60;

/**
 * Secrets that may make `x-service-signature` during the grace period. The header can hold only one
 * signature.
 */
export const SERVICE_SIGNATURES = ['previous', 'new'] as const;
export type ServiceSignature = (typeof SERVICE_SIGNATURES)[number];

/** Settings of a roll of an endpoint's secret. */
@ApiSchema({ name: 'SecretRoll' })
export class RollSecret {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_GRACE_PERIOD_SECONDS,
    default: DEFAULT_GRACE_PERIOD_SECONDS,
    example: DEFAULT_GRACE_PERIOD_SECONDS,
    description: 'Time for which the previous secret signs too. 0 ends it at once.',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_PERIOD_SECONDS)
  gracePeriodSeconds?: number;

  @ApiPropertyOptional({
    enum: SERVICE_SIGNATURES,
    default: 'previous',
    example: 'previous',
    description: 'The secret that makes `x-service-signature` until the grace period ends.',
  })
  @IsOptional()
  @IsIn(SERVICE_SIGNATURES)
  serviceSignature?: ServiceSignature;
}

@ApiSchema({ name: 'WebhookEndpointDeactivation' })
export class EndpointDeactivation {
  @ApiProperty({
    enum: DEACTIVATION_REASONS,
    example: 'failing',
    description: 'gone: a delivery was answered with 410. failing: all deliveries failed for five days.',
  })
  reason: DeactivationReason;

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  at: Date;
}

export const MAKER_TYPES = ['agent', 'api_key', 'operator', 'system'] as const satisfies Actor['type'][];

/** Actor who made an endpoint, or set its URL. */
@ApiSchema({ name: 'WebhookEndpointMaker' })
export class EndpointMaker {
  @ApiProperty({ enum: MAKER_TYPES, example: 'api_key' })
  type: Actor['type'];

  @ApiProperty({
    type: String,
    nullable: true,
    example: '019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f',
    description: 'The id of the agent or the API key; null for an operator and the system.',
  })
  id: string | null;
}

const A_TIME = { type: String, format: 'date-time', nullable: true, example: null };

/** Endpoint without its secret. */
@ApiSchema({ name: 'WebhookEndpoint' })
export class WebhookEndpointSummary {
  @ApiProperty({ example: '019ab3f1-9a3b-7c44-8d55-6e7f8091a2b3' })
  id: string;

  @ApiProperty({ type: String, nullable: true, example: 'CRM' })
  name: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  description: string | null;

  @ApiProperty({ example: 'https://hooks.example.com/messaging' })
  url: string;

  @ApiProperty({ type: [String], example: ['message.created'], description: 'Event types, or `*` for all.' })
  events: string[];

  @ApiProperty({ example: false, description: 'Whether its deliveries have a `context`.' })
  context: boolean;

  @ApiProperty({
    enum: CONTEXT_PARTS,
    enumName: 'WebhookContextPart',
    isArray: true,
    example: [],
    description:
      'Parts of the `context` that its deliveries have, where the event has them: what whoever switched the context on ' +
      'may read. The other parts are null.',
  })
  contextParts: ContextPart[];

  @ApiProperty({ example: true })
  active: boolean;

  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Number of the present settings, which an edit can name.',
  })
  version: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: null,
    description: 'Deliveries a second; null for no limit.',
  })
  rateLimit: number | null;

  @ApiProperty({
    ...A_TIME,
    description: 'When the secret before the last roll ends; null if only the present one signs.',
  })
  previousSecretEndsAt: Date | null;

  @ApiProperty({
    ...A_TIME,
    description: 'Time of the first failure since the last success; null without one.',
  })
  failingSince: Date | null;

  @ApiProperty({ ...A_TIME, description: 'Time of the last success, to the minute; null before the first.' })
  lastSuccessAt: Date | null;

  @ApiProperty({
    type: EndpointDeactivation,
    nullable: true,
    example: null,
    description:
      'Why and when the service deactivated it; null while it is active, and after anybody else did.',
  })
  deactivation: EndpointDeactivation | null;

  @ApiProperty({
    type: EndpointMaker,
    nullable: true,
    example: { type: 'api_key', id: '019ab3f0-6b5a-7b1e-8f21-0a1b2c3d4e5f' },
    description: 'Who made it, or took it over from a key that was replaced; null if that is not known.',
  })
  madeBy: EndpointMaker | null;

  @ApiProperty({
    type: EndpointMaker,
    nullable: true,
    example: { type: 'agent', id: '019ab3f2-1c2d-7e3f-8a4b-5c6d7e8f9a0b' },
    description: 'Who set its `url` last; null if that is not known.',
  })
  urlSetBy: EndpointMaker | null;

  @ApiProperty({ example: '2026-11-02T08:15:30.000Z' })
  createdAt: Date;

  @ApiProperty({ example: '2026-11-18T16:20:00.000Z' })
  updatedAt: Date;
}

const SECRET = { example: 'whsec_3JgYl5oXhDkq0m7cV1bT9sWnE4uRzP6aKfLdHyQxGiM=' };

/** Endpoint with its new `secret`, which can't be read again. */
@ApiSchema({ name: 'WebhookEndpointWithSecret' })
export class CreatedWebhookEndpoint extends WebhookEndpointSummary {
  @ApiProperty({ ...SECRET, description: 'Shown only here.' })
  secret: string;
}

/** Endpoint as the API answers with it when it is created. */
@ApiSchema({ name: 'RegisteredWebhookEndpoint' })
export class RegisteredWebhookEndpoint extends WebhookEndpointSummary {
  @ApiProperty({
    ...SECRET,
    type: String,
    nullable: true,
    description:
      'Shown only here, and only in the first answer: null when the request is repeated under its Idempotency-Key. ' +
      'A lost secret is replaced by rolling it.',
  })
  secret: string | null;
}

export function toEndpointSummary(endpoint: WebhookEndpointEntity): WebhookEndpointSummary {
  const { id, name, description, url, events, active, version, rateLimit } = endpoint;
  const { failingSince, lastSuccessAt, createdAt, updatedAt } = endpoint;
  const { deactivationReason: reason, deactivatedAt: at } = endpoint;
  const { previousSecretEndsAt: endsAt } = endpoint;
  const previousSecretEndsAt = endsAt && endsAt.getTime() > Date.now() ? endsAt : null;
  return {
    id,
    name,
    description,
    url,
    events,
    context: endpoint.context !== null,
    contextParts: endpoint.context ?? [],
    active,
    version,
    rateLimit,
    previousSecretEndsAt,
    failingSince,
    lastSuccessAt,
    deactivation: !active && reason && at ? { reason, at } : null,
    madeBy: toMaker(endpoint.madeByType, endpoint.madeById),
    urlSetBy: toMaker(endpoint.urlSetByType, endpoint.urlSetById),
    createdAt,
    updatedAt,
  };
}

function toMaker(type: Actor['type'] | null, id: string | null): EndpointMaker | null {
  return type && { type, id };
}
