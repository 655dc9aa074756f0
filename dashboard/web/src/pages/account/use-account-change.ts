import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../../api/session';
import { useAnnounce } from '../../common/announcer';

/** Returns a mutation that changes the person's account, and then reads the session and account again. */
export function useAccountChange<Input = void, Output = unknown>(
  send: (input: Input) => Promise<Output>,
  done?: string,
) {
  const queries = useQueryClient();
  const announce = useAnnounce();
  return useMutation({
    mutationFn: send,
    onSuccess: async () => {
      if (done) announce(done);
      await Promise.all([
        queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
        queries.invalidateQueries({ queryKey: ['account'] }),
      ]);
    },
  });
}
