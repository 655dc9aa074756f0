import { Command } from 'commander';
import { example, print } from './command';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('Runs all pending migrations, or reverts the last one.')
    .option('--down', 'revert the last migration')
    .addHelpText('after', example('{direction, migrations: [names]}', 'migrate'))
    .action(async ({ down = false }: { down?: boolean }) => {
      const [{ Config }, { migrate }] = await Promise.all([
        import('../config/config.js'),
        import('../database/setup/migrator.js'),
      ]);
      const direction = down ? 'down' : 'up';
      print({ direction, migrations: await migrate(Config.from(), direction) });
    });
}
