import { type ComponentType, useEffect, useState } from 'react';

/** A component of a file of its own, which is loaded when it is shown, or by `preload`. */
type LazyPart<Props> = ComponentType<Props> & { preload: () => Promise<void> };

/**
 * Makes a component that is loaded when it is first shown. A component that is loaded already appears in the
 * same frame; React's `lazy` shows nothing first, for a third of a second at times.
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

/** Loads parts while the page rests, so that they open at once. */
export function usePreload(...parts: Pick<LazyPart<never>, 'preload'>[]): void {
  useEffect(() => {
    // A part that can't be loaded now is loaded when it is shown, and then shows the error.
    const preload = () => parts.forEach((part) => void part.preload().catch(() => undefined));
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(preload, LONGEST_WAIT_MS);
      return () => clearTimeout(timer);
    }
    const request = requestIdleCallback(preload, { timeout: LONGEST_WAIT_MS });
    return () => cancelIdleCallback(request);
    // The parts of a page are always the same.
  }, []);
}
