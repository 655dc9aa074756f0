import { sessionKeyOf } from '../app-contract';
import type { ChatWidgetApi, Command } from '../page-api';
import { AppLoader } from './app-loader';
import { createApi } from './api';
import { Launcher } from './launcher';

declare global {
  interface Window {
    chatWidget?: ChatWidgetApi | Command[];
  }
}

const script = document.currentScript as HTMLScriptElement | null;
const siteKey = script?.dataset['siteKey'];

if (window.chatWidget && !Array.isArray(window.chatWidget))
  console.warn('chatWidget: the script is in this page twice; the second one does nothing.');
else if (!script || !siteKey)
  console.error('chatWidget: the script element needs the attribute data-site-key.');
else if (document.body) begin(script.src, siteKey);
else document.addEventListener('DOMContentLoaded', () => begin(script.src, siteKey));

function begin(scriptUrl: string, siteKey: string): void {
  const launcher = new Launcher();
  const loader = new AppLoader(
    {
      fetch: window.fetch.bind(window),
      serviceUrl: new URL(`../channels/widget/${encodeURIComponent(siteKey)}`, scriptUrl).href,
      siteKey,
      shadow: launcher.shadow,
      launcher,
    },
    new URL(APP_PATH, scriptUrl).href,
  );
  const queued = (window.chatWidget ?? []) as Command[];
  window.chatWidget = createApi(loader);
  window.chatWidget.push(...queued);
  launcher.show(loader.settings);
  loader.emit('ready', undefined);
  if (hasSession(siteKey)) whenIdle(() => void loader.load());
}

function hasSession(siteKey: string): boolean {
  try {
    return localStorage.getItem(sessionKeyOf(siteKey)) !== null;
  } catch {
    // The page may use no storage.
    return false;
  }
}

function whenIdle(callback: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(callback, { timeout: 3000 });
  else setTimeout(callback, 500);
}
