/** Sends a message to the process that started this one. */
export function tellParent(message: object): void {
  if (!process.send) throw new Error('Only another process can start this one.');
  process.send(message);
}

/** Ends this process when it is told to, or when the process that started it has ended. */
export function endWithParent(close: () => Promise<void> = () => Promise.resolve()): void {
  process.on('SIGTERM', () => void close().then(() => process.exit()));
  process.on('disconnect', () => process.exit());
}

/**
 * Tells the parent process that this one is ready, then runs its commands one after the other and sends back
 * the results. Ends with the parent, or at the first failure.
 */
export function serveParent<Command, Result extends object>(
  run: (command: Command) => Promise<Result>,
  close?: () => Promise<void>,
): void {
  process.on('message', (command: Command) => {
    run(command).then(tellParent, (error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  endWithParent(close);
  tellParent({ port: 0 });
}
