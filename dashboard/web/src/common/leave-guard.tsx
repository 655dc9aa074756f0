import { useBlocker } from '@tanstack/react-router';
import { DiscardDialog } from './dialogs';

export function LeaveGuard({ hasEntered }: { hasEntered: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => hasEntered && current.pathname !== next.pathname,
    enableBeforeUnload: hasEntered,
    withResolver: true,
  });
  return status === 'blocked' && <DiscardDialog onDiscard={proceed} onClose={reset} />;
}
