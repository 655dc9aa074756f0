import { useBlocker } from '@tanstack/react-router';
import { DiscardDialog } from './dialogs';

/** Asks before the person leaves the page, if they have entered something on it. */
export function LeaveGuard({ hasEntered }: { hasEntered: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => hasEntered && current.pathname !== next.pathname,
    enableBeforeUnload: hasEntered,
    withResolver: true,
  });
  return status === 'blocked' && <DiscardDialog onDiscard={proceed} onClose={reset} />;
}
