import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import type { Channel } from '../common/channel-descriptors';
import { example, inWorkspace, writingInWorkspace } from './command';
import { identity } from './option-values';

interface CreateOptions {
  workspace: string;
  name?: string;
  email?: string;
  phone?: string;
  identity?: { channel: Channel; externalId: string };
}

interface ExportOptions extends ContactOptions {
  output?: string;
}

interface ContactOptions {
  workspace: string;
  id: string;
}

export function addContactCommands(program: Command): void {
  const contact = program.command('contact').description('The people a workspace talks with.');

  contact
    .command('create')
    .description('Creates a contact.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .option('--name <name>')
    .option('--email <address>')
    .option('--phone <number>', 'in any spelling; a search compares its digits')
    .option('--identity <channel:id>', "the contact's id on a channel, for outbound messages", identity)
    .addHelpText(
      'after',
      example(
        '{id, name, email, phone, identities, …}',
        "contact create --workspace acme --name 'Zoë Laurent' --phone '+33 6 12 34 56 78'",
        'contact create --workspace acme --identity WHATSAPP:33612345678',
      ),
    )
    .action(
      inWorkspace<CreateOptions>(({ contacts, operator }, tenantId, given) =>
        contacts.create(tenantId, given, operator),
      ),
    );

  contact
    .command('erase')
    .description(
      'Erases a contact for ever: name, e-mail, phone, identities, attributes, and, in the background, all messages and their copies.',
    )
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--id <id>', 'the contact')
    .addHelpText(
      'after',
      example(
        '{id, contactId, status, messages, …}; follow it with "contact erasure"',
        'contact erase --workspace acme --id <id>',
      ),
    )
    .action(
      inWorkspace<ContactOptions>(({ contactErasures, operator }, tenantId, { id }) =>
        contactErasures.start(tenantId, id, operator),
      ),
    );

  contact
    .command('erasure')
    .description('Shows the progress of an erasure.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--id <id>', 'the erasure')
    .addHelpText(
      'after',
      example(
        '{id, contactId, status, messages, createdAt, finishedAt}',
        'contact erasure --workspace acme --id <id>',
      ),
    )
    .action(
      inWorkspace<ContactOptions>(({ contactErasures, operator }, tenantId, { id }) =>
        contactErasures.get(tenantId, id, operator),
      ),
    );

  contact
    .command('export')
    .description('Writes all that the workspace keeps of a contact, as JSON Lines.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--id <id>', 'the contact')
    .option('--output <file>', 'a new file, which only its owner may read; default: stdout')
    .addHelpText(
      'after',
      example(
        'a line each: {"type": "contact" | "identity" | "conversation" | "message", …}',
        'contact export --workspace acme --id <id> --output zoe.jsonl',
      ),
    )
    .action(
      writingInWorkspace<ExportOptions>(({ contactExports, operator }, tenantId, { id, output }) =>
        writeLines(contactExports.export(tenantId, id, operator), output),
      ),
    );
}

/**
 * Writes lines to a new file, or to stdout. An existing file is not overwritten, and no file is made for an
 * unknown contact.
 */
async function writeLines(lines: AsyncGenerator<object>, file?: string): Promise<void> {
  const first = await lines.next();
  if (first.done) return;
  const target = file === undefined ? process.stdout : createWriteStream(file, { flags: 'wx', mode: 0o600 });
  const text = async function* () {
    yield `${JSON.stringify(first.value)}\n`;
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  await pipeline(Readable.from(text()), target, { end: file !== undefined });
}
