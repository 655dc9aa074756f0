import { randomBytes } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { CreatedApiKey } from '../../src/auth/api-key.dto';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { Actor, SYSTEM } from '../../src/access/principal';
import { Scope, SCOPES } from '../../src/access/permissions';
import { CreateContact, ContactResponse } from '../../src/contacts/contact.dto';
import { ContactsService } from '../../src/contacts/contacts.service';
import { CreateConversation, ConversationDetail } from '../../src/conversations/conversation.dto';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { MessageResponse } from '../../src/messages/message.dto';
import { MessagesService } from '../../src/messages/messages.service';
import { CreateAgent } from '../../src/workspaces/agent.dto';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { CreateWorkspace } from '../../src/workspaces/workspace.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';

type InWorkspace = Pick<WorkspaceEntity, 'id'>;

/** Makes workspaces and their content through the services that the dashboard uses. */
export class Fixtures {
  constructor(private readonly app: Pick<INestApplicationContext, 'get'>) {}

  workspace(input: Partial<CreateWorkspace> = {}): Promise<WorkspaceEntity> {
    const slug = `ws-${unique()}`;
    return this.app.get(WorkspacesService).create({ name: 'Acme Support', slug, planTier: 'PRO', ...input });
  }

  /** Creates a workspace whose trial ended yesterday. */
  expiredTrial(): Promise<WorkspaceEntity> {
    return this.workspace({ planTier: 'TRIAL', trialEndsAt: new Date(Date.now() - 86_400_000) });
  }

  agent({ id }: InWorkspace, input: Partial<CreateAgent> = {}): Promise<AgentEntity> {
    const email = `agent-${unique()}@example.com`;
    return this.app
      .get(AgentsService)
      .create(id, { name: 'Ana Admin', email, role: 'OWNER', ...input }, SYSTEM);
  }

  apiKey({ id }: InWorkspace, scopes: readonly Scope[] = SCOPES): Promise<CreatedApiKey> {
    return this.app.get(ApiKeysService).create(id, { name: 'Test key', scopes: [...scopes] }, SYSTEM);
  }

  contact({ id }: InWorkspace, input: CreateContact = { name: 'Zoë Martín' }): Promise<ContactResponse> {
    return this.app.get(ContactsService).create(id, input, SYSTEM);
  }

  async conversation(
    workspace: InWorkspace,
    { channel = 'WIDGET', contactId }: Partial<CreateConversation> = {},
  ): Promise<ConversationDetail> {
    const contact = contactId ?? (await this.contact(workspace)).id;
    return this.app.get(ConversationsService).create(workspace.id, { contactId: contact, channel });
  }

  /** Creates a conversation that a new contact has begun on Telegram with a message. */
  async begun(workspace: InWorkspace, name: string, text?: string): Promise<ConversationDetail> {
    const { id: contactId } = await this.contact(workspace, { name });
    const conversation = await this.conversation(workspace, { contactId, channel: 'TELEGRAM' });
    await this.received(workspace, conversation, text);
    return conversation;
  }

  /** Stores a customer's message. */
  received(
    { id }: InWorkspace,
    conversation: { id: string },
    body = 'Where is it?',
  ): Promise<MessageResponse> {
    return this.app.get(MessagesService).receive(id, conversation.id, { body });
  }

  /** Sends an agent's message. */
  async sent(
    { id }: InWorkspace,
    conversation: { id: string },
    body = 'On its way.',
  ): Promise<MessageResponse> {
    return (await this.app.get(MessagesService).send(id, conversation.id, { body }, SYSTEM)).message;
  }

  updateConversation(
    { id }: InWorkspace,
    conversation: { id: string },
    changes: Parameters<ConversationsService['update']>[2],
    actor: Actor = SYSTEM,
  ) {
    return this.app.get(ConversationsService).update(id, conversation.id, changes, actor);
  }
}

function unique(): string {
  return randomBytes(5).toString('hex');
}
