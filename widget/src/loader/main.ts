import { sessionKeyOf } from '../app-contract';
import type { ChatWidgetApi, Command } from '../page-api';
import { createApi } from './api';
import { AppLoader } from './app-loader';

declare global {
  interface Window {
    chatWidget?: ChatWidgetApi | Command[];
  }
}

/** Element of this script. `currentScript` is null if the page loads the script as a module. */
const script = (document.currentScript ??
  document.querySelector('script[src*="/widget/v1.js"]')) as HTMLScriptElement | null;
// An inline script has no `src`, from which the address of the app could be derived.
const src = script?.src;
const siteKey = src && (script.dataset['siteKey'] || new URL(src).searchParams.get('siteKey'));

if (!siteKey) console.error('chatWidget: the script needs src and data-site-key, or ?siteKey= in src.');
else if (window.chatWidget && !Array.isArray(window.chatWidget))
  console.warn('chatWidget: the script is in this page twice.');
else installChat(src, siteKey);

function installChat(scriptUrl: string, siteKey: string): void {
  const urlOf = (path: string) => new URL(path, scriptUrl).href;
  const serviceUrl = urlOf(`../channels/widget/${encodeURIComponent(siteKey)}`);
  const site = { fetch: fetch.bind(window), XMLHttpRequest, serviceUrl, siteKey };
  const loader = new AppLoader(site, urlOf(APP_PATH));
  const queued = (window.chatWidget ?? []) as Command[];
  window.chatWidget = createApi(loader);
  window.chatWidget.push(...queued);
  loader.set();
  loader.emit('ready', undefined);
  try {
    const key = sessionKeyOf(siteKey);
    if (sessionStorage.getItem(key)) loader.load();
    // Safari lacks requestIdleCallback.
    else if (localStorage.getItem(key)) (window.requestIdleCallback ?? setTimeout)(() => loader.load());
  } catch {
    // The browser may refuse storage to the page.
  }
}
