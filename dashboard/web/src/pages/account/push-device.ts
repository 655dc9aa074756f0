import { api } from '../../api/client';
import type { PushState } from '../../api/types';

const WORKER = '/push-worker.js';
/** Path without pages, so that the service worker is in no page's way. */
const SCOPE = '/push-worker/';
/** Key of the id of the person who has turned notices on in this browser. */
const STORAGE_KEY = 'dashboard-push';

/** Tells the service worker which page this tab shows, so that a click on a notice focuses it. */
(navigator as Partial<Navigator>).serviceWorker?.addEventListener('message', ({ ports: [port] }) =>
  port?.postMessage(location.pathname),
);

export const isSupported = () =>
  'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

/**
 * Asks for the browser's permission, subscribes, and stores the push address. Must be called by a press.
 * @returns false if the browser denies the permission
 * @throws an ApiError; a DOMException if the browser's push service refuses
 */
export async function turnOn(personId: string, publicKey: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false;
  await store(publicKey);
  localStorage.setItem(STORAGE_KEY, personId);
  return true;
}

export async function turnOff(): Promise<void> {
  localStorage.removeItem(STORAGE_KEY);
  await api.delete('/account/push');
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/**
 * Stores the push address of this browser again, where the person has turned notices on. An address ends with
 * its login session, and a browser may replace it.
 */
export async function renew(): Promise<void> {
  if (!isSupported() || Notification.permission !== 'granted') return;
  const { publicKey, isOn } = await api.get<PushState>('/account/push');
  if (publicKey !== null && !isOn) await store(publicKey);
}

async function store(publicKey: string): Promise<void> {
  const { endpoint, keys } = (await subscribe(publicKey)).toJSON();
  await api.put('/account/push', { endpoint, ...keys });
}

async function subscribe(publicKey: string): Promise<PushSubscription> {
  const registration = await navigator.serviceWorker.register(WORKER, { scope: SCOPE });
  await awaitActive(registration);
  const { pushManager } = registration;
  const before = await pushManager.getSubscription();
  // A subscription takes notices of one key alone.
  if (before && keyOf(before) !== publicKey) await before.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

function awaitActive({ active, waiting, installing }: ServiceWorkerRegistration): Promise<void> {
  const worker = installing ?? waiting;
  if (active || !worker) return Promise.resolve();
  return new Promise((resolve) => {
    worker.addEventListener('statechange', () => worker.state === 'activated' && resolve());
  });
}

/** Returns the public key of a subscription, in base64url. */
function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? []);
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (one) => ({ '+': '-', '/': '_' })[one] ?? '');
}
