import { Command } from 'commander';
import { withServices } from './command';

interface CreateOptions {
  workspace: string;
  name?: string;
  email?: string;
  phone?: string;
}

export function addContactCommands(program: Command): void {
  const contact = program.command('contact').description('The people a workspace talks with.');

  contact
    .command('create')
    .description('Creates a contact.')
    .requiredOption('--workspace <slug>', 'whose contact')
    .option('--name <name>')
    .option('--email <address>')
    .option('--phone <number>', 'as it is written; searched by its digits')
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js contact create --workspace acme --name 'Zoë Laurent' --phone '+33 6 12 34 56 78'

Prints {id, name, email, phone, …}.`,
    )
    .action(
      withServices(async ({ workspaces, contacts }, { workspace, ...given }: CreateOptions) => {
        const { id } = await workspaces.getBySlug(workspace);
        return contacts.create(id, given);
      }),
    );
}
