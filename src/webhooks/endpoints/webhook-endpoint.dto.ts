import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type Actor, hasScope } from '../../access/principal';
import { maskSecrets } from '../../audit/masked-urls';
import { CONTEXT_PARTS, type ContextPart } from '../context/context-parts';
import { DEACTIVATION_REASONS, type DeactivationReason, WebhookEndpoint } from './webhook-endpoint';

@ApiSchema({ name: 'WebhookEndpointDeactivation' })
class EndpointDeactivation {
  @ApiProperty({
    enum: DEACTIVATION_REASONS,
    example: 'failing',
    description: 'gone: a delivery was answered with 410. failing: all deliveries failed for five days.',
  })
  reason: DeactivationReason;

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  at: Date;
}

const MAKER_TYPES = ['agent', 'api_key', 'operator', 'system'] as const satisfies Actor['type'][];

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

  @ApiProperty({ example: false, description: 'Whether it gets by itself what it has missed.' })
  automaticRecovery: boolean;

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

/** Endpoint with its new `secret`, which no later request returns. */
@ApiSchema({ name: 'WebhookEndpointWithSecret' })
export class CreatedWebhookEndpoint extends WebhookEndpointSummary {
  @ApiProperty({ ...SECRET, description: 'Shown only here.' })
  secret: string;
}

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

export function toEndpointSummary(endpoint: WebhookEndpoint): WebhookEndpointSummary {
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
    automaticRecovery: endpoint.recoversSince !== null,
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

/** Returns an endpoint for an actor. Without `webhooks:write`, secret parts of the URL are masked. */
export function toSummaryFor(actor: Actor, endpoint: WebhookEndpoint): WebhookEndpointSummary {
  const summary = toEndpointSummary(endpoint);
  if (hasScope(actor, ['webhooks:write'])) return summary;
  return { ...summary, url: maskSecrets(summary.url) };
}

function toMaker(type: Actor['type'] | null, id: string | null): EndpointMaker | null {
  return type && { type, id };
}
