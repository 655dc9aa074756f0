import { applyDecorators } from '@nestjs/common';
import {
  ArrayNotEmpty,
  ArrayUnique,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { eventCatalog, isEventType } from '../../outbox/event-catalog';
import { ALL_EVENTS } from './subscription';
import { DeactivationReason, WebhookEndpointEntity } from './webhook-endpoint.entity';

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

const IfGiven = () => ValidateIf((_, value) => value !== undefined);
const AreEvents = () =>
  applyDecorators(
    ArrayNotEmpty({ message: 'must name at least one event, or be *' }),
    IsSubscribable(),
    ArrayUnique({ message: 'must not name an event twice' }),
  );
const IsRate = () => applyDecorators(Max(MAX_ENDPOINT_RATE), Min(1), IsInt(), IsOptional());
const IsWords = (max: number) =>
  applyDecorators(NotBlank(), IsStorableText(), MaxCharacters(max), IsOptional());

/** Endpoint to be registered. */
export class CreateWebhookEndpoint {
  /** Address with https, of a public host; port 443, or 1024 and above; without credentials. */
  @IsString()
  url: string;

  /** Event types, or `*` for all. */
  @AreEvents()
  events: string[];

  /** Limit of deliveries a second, over all workers; no limit by default. */
  @IsRate()
  rateLimit?: number;

  /** Name by which people know the endpoint, up to 100 characters; none by default. */
  @IsWords(MAX_ENDPOINT_NAME)
  name?: string;

  /** Description of what the endpoint is for, up to 500 characters; none by default. */
  @IsWords(MAX_ENDPOINT_DESCRIPTION)
  description?: string;
}

/** Edit of an endpoint. What it does not give stays as it is. */
export class UpdateWebhookEndpoint {
  /** `version` of the endpoint that was read before the edit. */
  @Min(1)
  @IsInt()
  version: number;

  /** Address, as of a new endpoint. */
  @IfGiven()
  @IsString()
  url?: string;

  /** Event types, or `*` for all. */
  @IfGiven()
  @AreEvents()
  events?: string[];

  /** Limit of deliveries a second, over all workers; null for none. */
  @IsRate()
  rateLimit?: number | null;

  /** Name of up to 100 characters; null for none. */
  @IsWords(MAX_ENDPOINT_NAME)
  name?: string | null;

  /** Description of up to 500 characters; null for none. */
  @IsWords(MAX_ENDPOINT_DESCRIPTION)
  description?: string | null;
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
export class RollSecret {
  /** Time for which the previous secret signs too: up to 7 days, 24 hours by default. 0 ends it at once. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_PERIOD_SECONDS)
  gracePeriodSeconds?: number;

  /** Secret that makes `x-service-signature` until the grace period ends; `previous` by default. */
  @IsOptional()
  @IsIn(SERVICE_SIGNATURES)
  serviceSignature?: ServiceSignature;
}

/** Endpoint without its secret. */
export interface WebhookEndpointSummary {
  id: string;
  name: string | null;
  description: string | null;
  url: string;
  events: string[];
  active: boolean;
  /** Number of the present settings, which an edit must name. */
  version: number;
  rateLimit: number | null;
  /** Time until which the secret before the last roll signs too; null if only the present one signs. */
  previousSecretEndsAt: Date | null;
  /** Time of the first failure since the last success; null without one. */
  failingSince: Date | null;
  /** Time of the last success, to the minute. */
  lastSuccessAt: Date | null;
  /**
   * Reason for which the service deactivated the endpoint, and the time: a delivery ended with 410 (`gone`),
   * or all failed for five days (`failing`). Null while it is active, and after anybody else deactivated it.
   */
  deactivation: { reason: DeactivationReason; at: Date } | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Endpoint with its new `secret`, which can't be read again. */
export interface CreatedWebhookEndpoint extends WebhookEndpointSummary {
  secret: string;
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
    active,
    version,
    rateLimit,
    previousSecretEndsAt,
    failingSince,
    lastSuccessAt,
    deactivation: !active && reason && at ? { reason, at } : null,
    createdAt,
    updatedAt,
  };
}
