import { LOWEST_ID } from '../../common/ids';
import { ConversationKey, TableDeclaration } from '../../database/tables/table-declaration';
import { NoteResponse, toNote } from './note.dto';
import { NotesRepository } from './notes.repository';

/** Number of notes that one statement of an export reads at most. */
const PAGE = 200;

/** Line of a contact's export that holds a note of an agent. */
export type NoteLine = { type: 'note'; conversationId: string } & NoteResponse;

/** Declares the table of notes. */
export function noteTables(notes: NotesRepository): TableDeclaration[] {
  return [
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
  ];
}

async function* exportNotes(notes: NotesRepository, key: ConversationKey): AsyncGenerator<NoteLine> {
  const { conversationId } = key;
  for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
    const page: NoteResponse[] = await notes.listFrom(key, after, PAGE);
    for (const note of page) yield { type: 'note', conversationId, ...toNote(note) };
    after = page.length < PAGE ? undefined : page.at(-1)!.id;
  }
}
