import type { INestApplication } from '@nestjs/common';

/**
 * Starts a server. Closes it if it refuses to start: its timers would run on, as the process goes on with the
 * next test file.
 */
export async function listenOrClose(
  app: INestApplication,
  { port, host }: { port: number; host: string },
): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw error;
  }
}
