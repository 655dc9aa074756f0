import { type ComponentType, useEffect, useState } from 'react';

type LazyPart<Props> = ComponentType<Props> & { preload: () => Promise<void> };

/**
 * Makes a component whose code is loaded when it is first shown. If the code is loaded already, the component
 * appears in the same frame. React's `lazy` shows nothing first, sometimes for a third of a second.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyPart<Props> {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const preload = () =>
    (loading ??= load().then(
      (part) => {
        loaded = part;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    ));
  function Part(props: Props) {
    const [fault, setFault] = useState<{ error?: Error }>({});
    useEffect(() => {
      if (!loaded)
        preload().then(
          () => setFault({}),
          (error: Error) => setFault({ error }),
        );
    }, []);
    if (fault.error) throw fault.error;
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : null;
  }
  return Object.assign(Part, { preload });
}

const LONGEST_WAIT_MS = 5_000;

/** Loads the code of components while the browser is idle, so that they open at once. */
export function usePreload(...parts: Pick<LazyPart<never>, 'preload'>[]): void {
  useEffect(() => {
    // If loading fails here, the component is loaded again when it is shown, and then shows the error.
    const preload = () => parts.forEach((part) => void part.preload().catch(() => undefined));
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(preload, LONGEST_WAIT_MS);
      return () => clearTimeout(timer);
    }
    const request = requestIdleCallback(preload, { timeout: LONGEST_WAIT_MS });
    return () => cancelIdleCallback(request);
    // `parts` is left out, because it never changes between renders.
  }, []);
}
