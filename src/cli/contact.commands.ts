import { Command } from 'commander';
import type { Channel } from '../common/channel';
import { example, inWorkspace } from './command';
import { identity } from './option-values';

interface CreateOptions {
  workspace: string;
  name?: string;
  email?: string;
  phone?: string;
  identity?: { channel: Channel; externalId: string };
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
    .action(inWorkspace<CreateOptions>(({ contacts }, tenantId, given) => contacts.create(tenantId, given)));
}
