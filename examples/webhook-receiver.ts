import type { IncomingMessage, ServerResponse } from 'node:http';
import { isGenuine } from './verify-webhook';

interface MessageCreated {
  conversationId: string;
  message: { id: string; body: string; senderType: string; createdAt: string };
}

/** Takes webhooks in, and hands on each new message once. For http.createServer, behind your TLS. */
export function webhookReceiver(secret: string, onMessage: (created: MessageCreated) => void) {
  // Stands for a table with a unique key, which survives a restart and is shared by all your processes.
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
    // Also for events that you don't know yet: anything but 2xx would be sent again.
    response.writeHead(204).end();
  };
}
