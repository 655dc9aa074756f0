import { LOWEST_ID } from '../common/ids';
import { ConversationKey, TableDeclaration } from '../database/tables/table-declaration';
import { DraftsRepository } from './drafts/drafts.repository';
import { NoteResponse } from './notes/note.dto';
import { NotesRepository } from './notes/notes.repository';

const KEPT_DAYS = 30;
const PAGE = 200;

const NOT_OF_CONTACT = { none: 'It says how far an agent has read, and nothing of the contact.' };

export type NoteLine = { type: 'note'; conversationId: string } & NoteResponse;

export function inboxTables(drafts: DraftsRepository, notes: NotesRepository): TableDeclaration[] {
  return [
    {
      name: 'drafts',
      key: { tenant_id: 'uuid', agent_id: 'uuid', conversation_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: {
        eraseCopies: (tx, erased) => drafts.erase(tx, erased),
        eraseAgent: (tx, agent) => drafts.deleteByAgent(tx, agent),
      },
      export: { none: 'Nobody has said it yet: a draft is of one agent alone until it is sent.' },
      retention: { age: 'updated_at', keptHours: KEPT_DAYS * 24 },
    },
    {
      name: 'notes',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: { eraseCopies: (tx, erased) => notes.erase(tx, erased) },
      export: { exportConversation: (key) => exportNotes(notes, key) },
      retention: {
        none: 'MessageRetentionService deletes notes at the age that their workspace has set for messages.',
      },
    },
    {
      name: 'read_marks',
      key: { tenant_id: 'uuid', agent_id: 'uuid', conversation_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: NOT_OF_CONTACT,
      export: NOT_OF_CONTACT,
      retention: { none: 'A mark stays with its conversation: without it, all would count as unread again.' },
    },
    {
      name: 'saved_replies',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: { none: 'Managers write it for all customers: it names none of them.' },
      export: { none: 'It is about no contact.' },
      retention: { none: 'A workspace keeps its saved replies until it deletes them.' },
    },
  ];
}

async function* exportNotes(notes: NotesRepository, key: ConversationKey): AsyncGenerator<NoteLine> {
  const { conversationId } = key;
  for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
    const page: NoteResponse[] = await notes.listFrom(key, after, PAGE);
    for (const note of page) yield { type: 'note', conversationId, ...note };
    after = page.length < PAGE ? undefined : page.at(-1)!.id;
  }
}
