import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { NewConversationsService } from '../../../src/channels/outbound/new-conversations.service';
import { Actor, SYSTEM } from '../../../src/access/principal';
import { ContactsService } from '../../../src/contacts/contacts.service';
import { ConversationsService } from '../../../src/conversations/conversations.service';
import { MessagesService } from '../../../src/messages/messages.service';
import { NotesService } from '../../../src/inbox/notes/notes.service';
import { ContactErasuresService } from '../../../src/privacy/contact-erasures.service';
import { ContactExportService } from '../../../src/privacy/contact-export.service';
import { MessagingHost } from '../../support/messaging-host';
import { Subscription } from '../../support/webhook-workspace';
import { Expected, Scenario } from './scenario';

/** Scenarios that change conversations and their contacts, except for content. */
export function conversationChanges(host: () => MessagingHost): Record<string, Scenario> {
  const conversations = () => host().get(ConversationsService);
  const statusEntry = ({ conversation: { id } }: Subscription, from: string, to: string): Expected => ({
    entity: 'conversation',
    entityId: id,
    before: { status: from },
    after: { status: to },
  });

  const notes = () => host().get(NotesService);
  const noteEntry = (conversationId: string, noteId: string): Expected => ({
    entity: 'conversation',
    entityId: conversationId,
    metadata: { noteId, conversationId },
  });

  const updateConversation = (from: 'OPEN' | 'CLOSED', to: 'OPEN' | 'SNOOZED' | 'CLOSED'): Scenario => ({
    method: 'ConversationsService.update',
    permission: 'conversation.update',
    prepare: async (subject, actor) => {
      const { workspace, conversation } = subject;
      await conversations().update(workspace.id, conversation.id, { status: from }, SYSTEM);
      return async () => {
        await conversations().update(workspace.id, conversation.id, { status: to }, actor);
        return statusEntry(subject, from, to);
      };
    },
  });
  return {
    'contact.updated': {
      method: 'ContactsService.update',
      permission: 'contact.update',
      prepare:
        ({ workspace, conversation: { contact } }, actor) =>
        async () => {
          const { updatedAt } = contact;
          const change = { updatedAt, name: 'Zoë Laurent', email: 'zoe@example.com' };
          await host().get(ContactsService).update(workspace.id, contact.id, change, actor);
          return { entity: 'contact', entityId: contact.id, metadata: { fields: ['name', 'email'] } };
        },
    },
    'contact.erasure_started': {
      method: 'ContactErasuresService.start',
      permission: 'contact.erase',
      prepare:
        ({ workspace, conversation: { contact } }, actor) =>
        async () => {
          const { id } = await host().get(ContactErasuresService).start(workspace.id, contact.id, actor);
          return { entity: 'contact', entityId: contact.id, metadata: { erasureId: id } };
        },
    },
    'contact.exported': {
      method: 'ContactExportService.export',
      permission: 'contact.export',
      prepare:
        ({ workspace, conversation: { contact } }, actor) =>
        async () => {
          await host().get(ContactExportService).export(workspace.id, contact.id, actor).next();
          return { entity: 'contact', entityId: contact.id };
        },
    },
    'conversation.created': {
      method: 'NewConversationsService.create',
      permission: 'conversation.create',
      prepare: async ({ workspace }, actor) => {
        const credentials = { allowedOrigins: ['https://shop.example'] };
        const widget = { channel: 'WIDGET' as const, credentials };
        await host().get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
        const identity = { channel: 'WIDGET' as const, externalId: 'visitor-1' };
        const contact = await host().make.contact(workspace, { identity });
        return async () => {
          const input = { contactId: contact.id, channel: 'WIDGET' as const };
          const { id } = await host().get(NewConversationsService).create(workspace.id, input, actor);
          return { entity: 'conversation', entityId: id, after: { sourceChannel: 'WIDGET' } };
        };
      },
    },
    'conversation.assigned': {
      method: 'ConversationsService.update',
      permission: 'conversation.update',
      prepare:
        ({ workspace, conversation, agent }, actor) =>
        async () => {
          await conversations().update(workspace.id, conversation.id, { assignedAgentId: agent.id }, actor);
          const changed = { before: { assignedAgentId: null }, after: { assignedAgentId: agent.id } };
          return { entity: 'conversation', entityId: conversation.id, ...changed };
        },
    },
    'conversation.assigned, by a reply': {
      method: 'MessagesService.send',
      permission: 'message.send',
      isPersonal: true,
      prepare:
        ({ workspace, conversation, agent }, actor) =>
        async () => {
          await host()
            .get(MessagesService)
            .send(workspace.id, conversation.id, { body: 'On its way.' }, actor);
          const changed = { before: { assignedAgentId: null }, after: { assignedAgentId: agent.id } };
          return { entity: 'conversation', entityId: conversation.id, ...changed };
        },
    },
    'conversation.note_created': {
      method: 'NotesService.create',
      permission: 'note.create',
      isPersonal: true,
      prepare:
        ({ workspace, conversation }, actor) =>
        async () => {
          const { id } = await notes().create(workspace.id, conversation.id, { body: 'Ask Ana.' }, actor);
          return noteEntry(conversation.id, id);
        },
    },
    'conversation.note_deleted': {
      method: 'NotesService.delete',
      permission: 'note.delete',
      isPersonal: true,
      prepare: async ({ workspace, conversation, agent }, actor) => {
        const write = (author: Actor) =>
          notes().create(workspace.id, conversation.id, { body: 'Ask Ana.' }, author);
        // Who may write no note is refused that of another agent.
        const { id } = await write(actor).catch(() => write({ type: 'agent', id: agent.id }));
        return async () => {
          await notes().delete(workspace.id, id, actor);
          return noteEntry(conversation.id, id);
        };
      },
    },
    'conversation.snoozed': updateConversation('OPEN', 'SNOOZED'),
    'conversation.snoozed, until another time': {
      method: 'ConversationsService.update',
      permission: 'conversation.update',
      prepare: async ({ workspace, conversation }, actor) => {
        await conversations().update(workspace.id, conversation.id, { status: 'SNOOZED' }, SYSTEM);
        return async () => {
          const snoozedUntil = new Date(Date.now() + 86_400_000);
          await conversations().update(workspace.id, conversation.id, { snoozedUntil }, actor);
          return {
            entity: 'conversation',
            entityId: conversation.id,
            before: { snoozedUntil: null },
            after: { snoozedUntil: snoozedUntil.toISOString() },
          };
        };
      },
    },
    'conversation.closed': updateConversation('OPEN', 'CLOSED'),
    'conversation.reopened': updateConversation('CLOSED', 'OPEN'),
    'conversation.reopened, by its customer': {
      method: 'MessagesService.receive',
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const { workspace, conversation } = subject;
        await conversations().update(workspace.id, conversation.id, { status: 'SNOOZED' }, SYSTEM);
        return async () => {
          await host().get(MessagesService).receive(workspace.id, conversation.id, { body: 'Hello?' });
          return statusEntry(subject, 'SNOOZED', 'OPEN');
        };
      },
    },
  };
}
