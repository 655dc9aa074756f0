import type { IncomingMessage, ServerResponse } from 'node:http';
import { isGenuine } from './verify-webhook';

interface MessageCreated {
  conversationId: string;
  message: { id: string; body: string; senderType: string; createdAt: string };
}

/**
 * Handles the requests of an http.createServer behind your TLS: takes webhooks in, and passes each new
 * message on once.
 */
export function webhookReceiver(secret: string, onMessage: (created: MessageCreated) => void) {
  // This set stands for a table with a unique key, which survives a restart and is shared by all your
  // processes.
  const seen = new Set<string>();

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const rawBody = Buffer.concat(chunks);

    const signature = request.headers['x-service-signature'] as string | undefined;
    if (!isGenuine(rawBody, signature, secret)) {
      response.writeHead(401).end();
      return;
    }
    const { event, data } = JSON.parse(rawBody.toString()) as { event: string; data: MessageCreated };
    if (event === 'message.created' && !seen.has(data.message.id)) {
      seen.add(data.message.id);
      onMessage(data);
    }
    // Unknown events are answered so too: anything but 2xx would be sent again.
    response.writeHead(204).end();
  };
}
