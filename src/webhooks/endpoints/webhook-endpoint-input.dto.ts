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
import { IsNullable, IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { ALL_EVENTS, eventCatalog, isEventType } from '../../outbox/event-catalog';

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
    '`audit.event`, those of alerts, or `*`.',
  example: ['message.created', 'conversation.updated'],
};
const CONTEXT = {
  example: false,
  description:
    'Whether each delivery has a fourth key, `context`: the conversation, its contact and the agent who wrote, as they ' +
    'are at the attempt. What the key that switches it on may not read is null.',
};
const AUTOMATIC_RECOVERY = {
  example: true,
  description:
    'Whether the endpoint gets what it has missed by itself: it is tried after 5 and 15 minutes, and then every 30 ' +
    'minutes, and once it answers, it gets the missed events, each up to three times.',
};
const RATE = { type: 'integer', minimum: 1, maximum: MAX_ENDPOINT_RATE, example: 50 } as const;
const NAME = { minLength: 1, maxLength: MAX_ENDPOINT_NAME, example: 'CRM' };
const DESCRIPTION = {
  minLength: 1,
  maxLength: MAX_ENDPOINT_DESCRIPTION,
  example: 'Copies messages to the CRM.',
};

@ApiSchema({ name: 'WebhookEndpointInput' })
export class CreateWebhookEndpoint {
  @ApiProperty({
    ...URL,
    description: 'Address with https, of a public host; port 443, or 1024 and above; without credentials.',
  })
  @IsString()
  url: string;

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

  @ApiPropertyOptional({ ...AUTOMATIC_RECOVERY, default: false })
  @IsOptional()
  @IsBoolean()
  automaticRecovery?: boolean;
}

/** Edit of an endpoint. Values that are left out do not change. */
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

  @ApiPropertyOptional(AUTOMATIC_RECOVERY)
  @IsOptional()
  @IsBoolean()
  automaticRecovery?: boolean;

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

const MAX_GRACE_PERIOD_SECONDS = 7 * 24 * 60 * 60;
export const DEFAULT_GRACE_PERIOD_SECONDS = 24 * 60 * 60;

/** Choices of the secret for `x-service-signature` in the grace period, as it has only one signature. */
const SERVICE_SIGNATURES = ['previous', 'new'] as const;
type ServiceSignature = (typeof SERVICE_SIGNATURES)[number];

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
