/**
 * Service worker of the dashboard. It shows notices that are pushed to this browser, and opens their pages.
 * It handles no requests of pages.
 */
declare const self: ServiceWorkerGlobalScope;

/** Content of a push, as the service makes it. */
interface Notice {
  id: string;
  title: string;
  body: string;
  /** Path of the page that the notice opens. */
  path: string;
}

self.addEventListener('install', () => void self.skipWaiting());

self.addEventListener('push', (event) => {
  const { id, title, body, path } = event.data!.json() as Notice;
  // The tag makes a notice replace one with the same id.
  event.waitUntil(self.registration.showNotification(title, { body, tag: id, data: path }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data as string));
});

/** Focuses a tab that shows the conversation of this path, or opens the page. */
async function openPage(path: string): Promise<void> {
  const { origin, pathname, href } = new URL(path, self.location.origin);
  if (origin !== self.location.origin) return;
  // The address of a tab here is the one at which it was loaded. Its lock tells the conversation it shows.
  const { held = [] } = await self.navigator.locks.query();
  const conversation = `inbox-shown:${pathname.split('/').at(-1)}`;
  const { clientId } = held.find(({ name }) => name === conversation) ?? {};
  const tab = clientId === undefined ? undefined : await self.clients.get(clientId);
  await (tab instanceof WindowClient ? tab.focus() : self.clients.openWindow(href));
}

export {};
