import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/**
 * Stores the push address of this browser in a new session of the person who has turned notices on here, and
 * loads the code that answers the service worker.
 */
export function usePushRenewal({ id }: { id: string }): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (localStorage.getItem('dashboard-push') !== id) return;
    void import('../pages/account/push-device')
      .then(({ renew }) => renew())
      .then(() => queries.invalidateQueries({ queryKey: ['account', 'push'] }))
      // The account page shows that notices are off, and says why when they are turned on.
      .catch(() => undefined);
  }, [id, queries]);
}
