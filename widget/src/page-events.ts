/** Acts of the chat when its page changes. */
interface PageHandlers {
  /** The page is visible again, or the browser online. */
  wake: () => void;
  /** The browser is offline. */
  change: () => void;
  /** The browser puts the page aside. */
  suspend: () => void;
  resume: () => void;
  /** The page is back from where the browser had put it aside. */
  comeBack: () => void;
}

/** Listens to the page until the signal ends it. */
export function listenToPage(handlers: PageHandlers, signal: AbortSignal): void {
  const { wake, change, suspend, resume, comeBack } = handlers;
  addEventListener('online', wake, { signal });
  addEventListener('offline', change, { signal });
  document.addEventListener('visibilitychange', wake, { signal });
  addEventListener('pagehide', suspend, { signal });
  addEventListener(
    'pageshow',
    ({ persisted }) => {
      if (persisted) comeBack();
      wake();
    },
    { signal },
  );
  // A frozen page would keep the stream, and other tabs would get nothing.
  document.addEventListener('freeze', suspend, { signal });
  document.addEventListener('resume', resume, { signal });
}
