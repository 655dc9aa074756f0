/** Code that stands around the snippets of a page which are fragments. */
export interface SnippetContext {
  page: string;
  /** Text that the snippet has, and no other of the page. */
  snippet: string;
  /** Code with `SNIPPET` in the place of the snippet. It stands in a file of `examples/`. */
  code: string;
}

export const SNIPPET_CONTEXTS: SnippetContext[] = [
  {
    page: 'client/README.md',
    snippet: 'uploadFile',
    code: `import type { MessagingClient } from '@conversation-messaging/client';
export async function send(client: MessagingClient, conversationId: string, bytes: Uint8Array<ArrayBuffer>) {
  SNIPPET
}`,
  },
  {
    page: 'docs/project/extending.md',
    snippet: 'implements MigrationInterface',
    code: `import { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from '../migrations/support/concurrent-index.ts';
SNIPPET`,
  },
  {
    page: 'docs/project/extending.md',
    snippet: 'this.outbox.appendPipelined(',
    code: `import { ConversationEntity } from '../src/conversations/conversation.entity.ts';
import { ConversationsRepository } from '../src/conversations/conversations.repository.ts';
import { Transaction } from '../src/database/transaction.ts';
import { OutboxService } from '../src/outbox/outbox.service.ts';
export class Conversations {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly outbox: OutboxService,
  ) {}
  async insert(tx: Transaction, conversation: ConversationEntity) {
    const { tenantId, id: conversationId, contactId, sourceChannel } = conversation;
    SNIPPET
  }
}`,
  },
  {
    page: 'docs/project/extending.md',
    snippet: 'TAG_TABLES',
    code: `import { TableDeclaration } from '../src/database/tables/table-declaration.ts';
SNIPPET`,
  },
  {
    page: 'docs/reference/audit.md',
    snippet: 'const actor: Actor',
    code: `import type { Actor } from 'conversation-messaging-service';
declare const id: string, userAgent: string, requestId: string, request: { ip: string };
SNIPPET`,
  },
  {
    page: 'docs/reference/widget-protocol.md',
    snippet: 'const jwt = sign(',
    code: `declare function sign(
  payload: object,
  secret: string,
  options: { algorithm: 'HS256'; subject: string; expiresIn: string },
): string;
declare const name: string, email: string, identitySecret: string, id: string;
SNIPPET
export { jwt };`,
  },
  {
    page: 'docs/reference/widget-protocol.md',
    snippet: 'const signature = createHmac(',
    code: `declare const identitySecret: string, id: string;
SNIPPET`,
  },
  {
    page: 'docs/how-to/widget.md',
    snippet: "['set', {",
    code: `declare function showCount(count: number): void;
SNIPPET
export {};`,
  },
  {
    page: 'docs/how-to/widget.md',
    snippet: "['identify', {",
    code: `declare const jwt: string;
SNIPPET
export {};`,
  },
];

/** Declarations for all snippets: variables that a reader has set, and packages that are not installed. */
export const READERS_DECLARATIONS = `/// <reference lib="dom" />
declare namespace NodeJS {
  interface ProcessEnv {
    MESSAGING_API_KEY: string;
    WEBHOOK_SECRET: string;
  }
}

type ChatWidget = import('../widget/src/page-api').ChatWidgetApi | import('../widget/src/page-api').Command[];
declare var chatWidget: ChatWidget;

declare module 'hono' {
  interface Context {
    req: { arrayBuffer(): Promise<ArrayBuffer>; header(name: string): string | undefined };
    body(body: null, status: number): Response;
  }
  export class Hono {
    post(path: string, handler: (context: Context) => Promise<Response>): void;
  }
}

declare module 'fastify' {
  interface Reply {
    code(status: number): Reply;
    send(): Reply;
  }
  interface Instance {
    register(plugin: (instance: Instance) => Promise<void>): void;
    addContentTypeParser(
      type: string,
      options: { parseAs: 'buffer' },
      parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
    ): void;
    post(
      path: string,
      handler: (
        request: { headers: Record<string, string | string[] | undefined>; body: unknown },
        reply: Reply,
      ) => Promise<Reply>,
    ): void;
  }
  export default function fastify(): Instance;
}
`;
