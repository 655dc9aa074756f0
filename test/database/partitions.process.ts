import { PartitionChanges } from '../../src/database/history/partition-changes';
import { PARTITIONED_TABLES, Partitions } from '../../src/database/history/partitions';
import { MessagingHost } from '../support/messaging-host';
import { ownerDatabase } from '../support/owner-database';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';

/** Age in days of a partition that is wholly older than the history is kept by default. */
const EXPIRED_DAYS = 31;

describe('expired partitions', () => {
  it('are dropped by another worker when one was killed after it had detached them', async () => {
    const host = await MessagingHost.create();
    const owner = ownerDatabase(host);
    try {
      const partitions = host.get(Partitions);
      const changes = new PartitionChanges(owner);
      const expired = (await partitions.readToday()) - EXPIRED_DAYS;
      for (const table of PARTITIONED_TABLES) {
        expect(await changes.create(table, expired)).toBe('done');
        expect(await changes.attach(table, expired)).toBe('done');
      }
      const countDetached = async () => {
        const all = await partitions.list();
        return all.filter(({ day, isAttached }) => day === expired && !isAttached).length;
      };

      const killed = await ServiceProcess.start('worker', host.stores);
      await waitFor('a detached day', async () => (await countDetached()) === PARTITIONED_TABLES.length);
      killed.kill('SIGKILL');
      await killed.exited;
      expect(await countDetached()).toBe(PARTITIONED_TABLES.length);

      const other = await ServiceProcess.start('worker', host.stores);
      await waitFor('the day to be dropped', async () => (await countDetached()) === 0, 40_000);
      other.kill('SIGTERM');
      expect(await other.exited).toEqual({ code: 0, signal: null });
    } finally {
      await owner.onApplicationShutdown();
      await host.close();
    }
  }, 90_000);
});
