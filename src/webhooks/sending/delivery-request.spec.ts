import { eventCatalog, EventType } from '../../outbox/event-catalog';
import { exampleBody } from './delivery-request';

it.each(Object.keys(eventCatalog) as EventType[])('%s has a body as a receiver gets it', (type) => {
  const body = JSON.parse(exampleBody(type)) as Record<string, unknown>;
  expect(Object.keys(body)).toEqual(['event', 'deliveredAt', 'data']);
  expect(body).toEqual({ event: type, deliveredAt: expect.any(String), data: eventCatalog[type].example });
});
