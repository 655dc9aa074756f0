import { createHash } from 'node:crypto';
import { VapidDetails } from '../../config/config';
import { PushAddress } from './push-addresses.repository';

/** Seconds for which a push service keeps a notice for a browser that is not connected. */
const TTL_SECONDS = 4 * 3_600;
/** Longest texts in characters. With them, a notice fits into the 4 KiB that every push service takes. */
const MAX_TITLE = 100;
const MAX_BODY = 400;
const MAX_TOPIC = 32;

/** Notice for a browser. */
export interface PushNotice {
  /** Id of the notice. It replaces one with the same id, at the push service and in the browser. */
  id: string;
  title: string;
  body: string;
  /** Path of the dashboard's page that the notice opens, such as `/w/acme/inbox/…`. */
  path: string;
}

export interface PushRequest {
  headers: Record<string, string | number>;
  body: Buffer;
}

/** Encrypts a notice for one browser (RFC 8291), and signs the request for its push service (RFC 8292). */
export async function makePushRequest(
  vapidDetails: VapidDetails,
  { endpoint, p256dh, auth }: PushAddress,
  notice: PushNotice,
): Promise<PushRequest> {
  const { generateRequestDetails } = await import('web-push');
  const { headers, body } = generateRequestDetails({ endpoint, keys: { p256dh, auth } }, contentOf(notice), {
    vapidDetails,
    TTL: TTL_SECONDS,
    urgency: 'normal',
    topic: topicOf(notice),
  });
  return { headers, body };
}

/** Returns the text that the dashboard's service worker reads. */
function contentOf({ id, title, body, path }: PushNotice): string {
  return JSON.stringify({ id, title: cut(title, MAX_TITLE), body: cut(body, MAX_BODY), path });
}

/** Returns a hash of a notice's id. A topic has at most 32 characters, and the push service can read it. */
function topicOf({ id }: PushNotice): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, MAX_TOPIC);
}

function cut(text: string, max: number): string {
  const characters = [...text];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text;
}
