import { Command } from 'commander';
import type { CreateContact } from '../contacts/contact.dto';
import { addWorkspaceCommand } from './command';
import { writeLines } from './line-files';
import { identity, option, required } from './option-values';

export function addContactCommands(program: Command): void {
  const contact = program.command('contact').description('The people a workspace talks with.');

  addWorkspaceCommand(contact, 'create', {
    does: 'Creates a contact.',
    options: [
      option('--name <name>'),
      option('--email <address>'),
      option('--phone <number>', 'in any spelling; a search compares its digits'),
      option('--identity <channel:id>', "the contact's id on a channel, for outbound messages", identity),
    ],
    prints: '{id, name, email, phone, identities, …}',
    calls: [
      "contact create --workspace acme --name 'Zoë Laurent' --phone '+33 6 12 34 56 78'",
      'contact create --workspace acme --identity WHATSAPP:33612345678',
    ],
    run: ({ contacts, operator }, tenantId, given: CreateContact) =>
      contacts.create(tenantId, given, operator),
  });
  addWorkspaceCommand(contact, 'erase', {
    does: 'Erases a contact for ever: name, e-mail, phone, identities, attributes, and, in the background, all messages and their copies.',
    options: [required('--id <id>', 'the contact')],
    prints: '{id, contactId, status, messages, …}; follow it with "contact erasure"',
    calls: ['contact erase --workspace acme --id <id>'],
    run: ({ contactErasures, operator }, tenantId, { id }: { id: string }) =>
      contactErasures.start(tenantId, id, operator),
  });
  addWorkspaceCommand(contact, 'erasure', {
    does: 'Shows the progress of an erasure.',
    options: [required('--id <id>', 'the erasure')],
    prints: '{id, contactId, status, messages, createdAt, finishedAt}',
    calls: ['contact erasure --workspace acme --id <id>'],
    run: ({ contactErasures, operator }, tenantId, { id }: { id: string }) =>
      contactErasures.get(tenantId, id, operator),
  });
  addWorkspaceCommand(contact, 'export', {
    does: 'Writes all that the workspace keeps of a contact, as JSON Lines.',
    options: [
      required('--id <id>', 'the contact'),
      option('--output <file>', 'a new file, which only its owner may read; default: stdout'),
    ],
    prints: 'a line each: {"type": "contact" | "identity" | "conversation" | "message", …}',
    calls: ['contact export --workspace acme --id <id> --output zoe.jsonl'],
    run: async ({ contactExports, operator }, tenantId, { id, output }: { id: string; output?: string }) => {
      await writeLines(jsonLines(contactExports.export(tenantId, id, operator)), output);
    },
  });
  addWorkspaceCommand(contact, 'archive', {
    does: 'Writes all that the workspace keeps of a contact, with the files, as a ZIP archive.',
    options: [
      required('--id <id>', 'the contact'),
      required('--output <file>', 'a new file, which only its owner may read'),
    ],
    prints: 'nothing: the archive has contact.jsonl, as "contact export" writes it, and files/',
    calls: ['contact archive --workspace acme --id <id> --output zoe.zip'],
    run: async ({ contactArchives, operator }, tenantId, { id, output }: { id: string; output: string }) => {
      await writeLines(contactArchives.export(tenantId, id, operator), output);
    },
  });
}

async function* jsonLines(objects: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const object of objects) yield `${JSON.stringify(object)}\n`;
}
