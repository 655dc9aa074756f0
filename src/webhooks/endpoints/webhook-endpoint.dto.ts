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
} from 'class-validator';
import { eventCatalog, isEventType } from '../../outbox/event-catalog';
import { ALL_EVENTS } from './subscription';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

export const MAX_ENDPOINT_RATE = 1_000;

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

/** Endpoint to be registered. */
export class CreateWebhookEndpoint {
  /** Address with https, of a public host; port 443, or 1024 and above; without credentials. */
  @IsString()
  url: string;

  /** Event types, or `*` for all. */
  @ArrayUnique({ message: 'must not name an event twice' })
  @IsSubscribable()
  @ArrayNotEmpty({ message: 'must name at least one event, or be *' })
  events: string[];

  /** Limit of deliveries a second, over all workers; no limit by default. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ENDPOINT_RATE)
  rateLimit?: number;
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
  url: string;
  events: string[];
  active: boolean;
  rateLimit: number | null;
  /** Time until which the secret before the last roll signs too; null if only the present one signs. */
  previousSecretEndsAt: Date | null;
  /** Time of the first failure since the last success; null without one. */
  failingSince: Date | null;
  /** Time of the last success, to the minute. */
  lastSuccessAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Endpoint with its new `secret`, which can't be read again. */
export interface CreatedWebhookEndpoint extends WebhookEndpointSummary {
  secret: string;
}

export function toEndpointSummary(endpoint: WebhookEndpointEntity): WebhookEndpointSummary {
  const { id, url, events, active, rateLimit, failingSince, lastSuccessAt, createdAt, updatedAt } = endpoint;
  const { previousSecretEndsAt: endsAt } = endpoint;
  const previousSecretEndsAt = endsAt && endsAt.getTime() > Date.now() ? endsAt : null;
  return {
    id,
    url,
    events,
    active,
    rateLimit,
    previousSecretEndsAt,
    failingSince,
    lastSuccessAt,
    createdAt,
    updatedAt,
  };
}
