import { useEffect } from 'react';
import { api } from '../../api/client';
import { useWorkspace } from '../../api/workspace';

/** Milliseconds between two signals. The server deletes a signal after two minutes. */
const EVERY_MS = 45_000;
const ACTS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const;

/**
 * Tells the server that the person uses the inbox, so that the person gets no mail about it meanwhile. A page
 * that is only open tells nothing, because the person may have gone away.
 */
export function useActivity(): void {
  const { id } = useWorkspace();
  useEffect(() => {
    let toldAt = -Infinity;
    const tell = () => {
      if (document.visibilityState !== 'visible' || performance.now() - toldAt < EVERY_MS) return;
      toldAt = performance.now();
      api.tell(`/workspaces/${id}/inbox/presence/active`, {});
    };
    tell();
    const options = { passive: true, capture: true };
    for (const act of ACTS) addEventListener(act, tell, options);
    return () => ACTS.forEach((act) => removeEventListener(act, tell, options));
  }, [id]);
}
