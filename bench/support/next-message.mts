import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Waits for the next message that a child process sends to this one. */
export async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message];
  return message;
}
