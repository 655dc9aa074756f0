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

/** Focuses a tab that shows this page of the dashboard, or opens one. */
async function openPage(path: string): Promise<void> {
  const { origin, pathname, href } = new URL(path, self.location.origin);
  if (origin !== self.location.origin) return;
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const shown = tabs.find(({ url }) => new URL(url).pathname === pathname);
  await (shown ? shown.focus() : self.clients.openWindow(href));
}

export {};
