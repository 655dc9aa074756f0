import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { environmentVariable } from '../support/settings.mts';

/** Event for one endpoint, with its data as JSON text. */
export interface PostedEvent {
  id: string;
  data: string;
  sequence: string;
  url: string;
}

const agent = new Agent({
  connect: { ca: readFileSync(environmentVariable('WEBHOOK_EXTRA_CA_FILE')) },
  pipelining: 1,
});

/** Signs an event's body and posts it over a kept connection. Throws unless the receiver answers with 2xx. */
export async function postEvent({ id, url, data, sequence }: PostedEvent, secret: string): Promise<void> {
  const at = new Date();
  const timestamp = Math.floor(at.getTime() / 1000);
  const body = Buffer.from(`{"event":"message.created","deliveredAt":"${at.toISOString()}","data":${data}}`);
  const ours = createHmac('sha256', secret).update(body).digest('hex');
  const standard = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  const { origin, pathname } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1.0',
      'x-service-event': 'message.created',
      'x-service-signature': `sha256=${ours}`,
      'x-service-delivery': id,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${standard}`,
      'x-service-sequence': sequence,
    },
    body,
  });
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`The receiver answered ${response.statusCode}`);
}
