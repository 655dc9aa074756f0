/**
 * Service worker of the dashboard. It shows notices that are pushed to this browser, and opens their pages.
 * It handles no requests of pages.
 */
declare const self: ServiceWorkerGlobalScope;

/** Longest wait for a tab's answer. The browser lets a page be opened for some seconds after a click. */
const ANSWER_MS = 500;

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
  const paths = await Promise.all(tabs.map(askPath));
  const shown = tabs[paths.indexOf(pathname)];
  await (shown ? shown.focus() : self.clients.openWindow(href));
}

/**
 * Asks a tab for the path that it shows, because its `url` is that at which it was loaded.
 * @returns null if it does not answer soon
 */
function askPath(tab: WindowClient): Promise<string | null> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data as string);
    setTimeout(() => resolve(null), ANSWER_MS);
    tab.postMessage(null, [port2]);
  });
}

export {};
