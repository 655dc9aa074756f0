interface PageHandlers {
  /** Called when the page is shown or hidden, and when the browser is online again. */
  wake: () => void;
  /** Called when the browser goes offline. */
  change: () => void;
  /** Called when the visitor leaves the page or the browser freezes it. */
  suspend: () => void;
  resume: () => void;
  /** Called when the browser shows the page again from its back/forward cache. */
  comeBack: () => void;
}

/** Calls the handlers on events of the page and the browser, until the signal aborts. */
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
  // A frozen page must give up its stream, because the visitor's other tabs get all events through this page.
  document.addEventListener('freeze', suspend, { signal });
  document.addEventListener('resume', resume, { signal });
}
