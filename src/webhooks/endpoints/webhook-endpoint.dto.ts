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

/** An endpoint to be registered. */
export class CreateWebhookEndpoint {
  /** https, to a public address; port 443, or 1024 and above; no credentials. */
  @IsString()
  url: string;

  /** Event names, or `*`. */
  @ArrayUnique({ message: 'must not name an event twice' })
  @IsSubscribable()
  @ArrayNotEmpty({ message: 'must name at least one event, or be *' })
  events: string[];

  /** Deliveries a second, over all workers; no limit by default. */
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

/** Whose secret `x-service-signature` is made with during the grace period. It can hold only one signature. */
export const SERVICE_SIGNATURES = ['previous', 'new'] as const;
export type ServiceSignature = (typeof SERVICE_SIGNATURES)[number];

/** How an endpoint's secret is rolled. */
export class RollSecret {
  /** How long the previous secret signs too: up to 7 days; 24 hours by default. 0 ends it at once. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_GRACE_PERIOD_SECONDS)
  gracePeriodSeconds?: number;

  /** The secret of `x-service-signature` until the grace period ends; `previous` by default. */
  @IsOptional()
  @IsIn(SERVICE_SIGNATURES)
  serviceSignature?: ServiceSignature;
}

/** An endpoint without its secret. */
export interface WebhookEndpointSummary {
  id: string;
  url: string;
  events: string[];
  active: boolean;
  rateLimit: number | null;
  /** Until then the secret before the last roll signs too; null if only the present one signs. */
  previousSecretEndsAt: Date | null;
  /** The first failure since the last success; null without one. */
  failingSince: Date | null;
  /** To the minute. */
  lastSuccessAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** An endpoint with a new secret: `secret` can't be read again. */
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
