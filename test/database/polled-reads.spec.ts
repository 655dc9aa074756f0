import { Database } from '../../src/database/database';
import { MessagingHost } from '../support/messaging-host';

describe('reads of polls', () => {
  let host: MessagingHost;
  let database: Database;
  const TRANSACTION = 'SELECT pg_current_xact_id()::text AS id';
  const readId = async () => (await database.poll<{ id: string }>(TRANSACTION))[0]!.id;

  beforeAll(async () => {
    host = await MessagingHost.create();
    database = host.get(Database);
  });

  it('share a transaction in one tick of the event loop, and none later', async () => {
    const [one, other] = await Promise.all([readId(), readId()]);
    expect(one).toBe(other);
    expect(await readId()).not.toBe(one);
  });

  it('are planned for a queue, however many they are', async () => {
    const setting = `SELECT current_setting('enable_seqscan') AS setting`;
    expect(await database.poll(setting)).toEqual([{ setting: 'off' }]);
    const [rows] = await Promise.all([database.poll(setting), readId()]);
    expect(rows).toEqual([{ setting: 'off' }]);
  });

  it('fail alone', async () => {
    const broken = database.poll('SELECT 1 / $1::integer AS result', [0]);
    const outcomes = await Promise.allSettled([readId(), broken, readId()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(broken).rejects.toThrow('division by zero');
    await expect(database.poll('SELECT 1 / $1::integer AS result', [0])).rejects.toThrow('division by zero');
    expect(await readId()).toBeDefined();
  });
});
