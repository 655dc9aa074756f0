import {
  ArrayNotEmpty,
  ArrayUnique,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { eventCatalog, isEventType } from '../../outbox/event-catalog';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

/** Subscribes to every event type, those that come later too. */
export const ALL_EVENTS = '*';

/** Whether an endpoint's subscription takes in an event type. */
export function isSubscribed(events: string[], type: string): boolean {
  return events.includes(ALL_EVENTS) || events.includes(type);
}

const MAX_RATE = 1_000;

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

  /** Deliveries a second, over all workers; as fast as it goes, when left out. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_RATE)
  rateLimit?: number;
}

/** An endpoint as the dashboard shows it. */
export interface WebhookEndpointSummary {
  id: string;
  url: string;
  events: string[];
  active: boolean;
  rateLimit: number | null;
  /** The first failure since the last success; null while all is well. */
  failingSince: Date | null;
  /** True to the minute. */
  lastSuccessAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** An endpoint just registered. `secret` is shown this once and can't be read again. */
export interface CreatedWebhookEndpoint extends WebhookEndpointSummary {
  secret: string;
}

export function toEndpointSummary(endpoint: WebhookEndpointEntity): WebhookEndpointSummary {
  const { id, url, events, active, rateLimit, failingSince, lastSuccessAt, createdAt, updatedAt } = endpoint;
  return { id, url, events, active, rateLimit, failingSince, lastSuccessAt, createdAt, updatedAt };
}
