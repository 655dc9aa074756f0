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

  it('find a row that appears after they found none, by the parameters of the time', async () => {
    const find = (id: string) => database.poll('SELECT id FROM workspaces WHERE id = $1', [id]);
    const none = '00000000-0000-7000-8000-000000000000';
    const isKnown = () => database.poll('SELECT 1 FROM workspaces WHERE id = $1 AND $2', [none, false]);
    for (let n = 0; n < 3; n++) expect(await Promise.all([find(none), isKnown()])).toEqual([[], []]);
    const { id } = await host.make.workspace();
    expect(await Promise.all([find(id), find(none), isKnown()])).toEqual([[{ id }], [], []]);
    for (let n = 0; n < 2; n++) expect(await Promise.all([isKnown(), find(id)])).toEqual([[], [{ id }]]);
    expect(await find(none)).toEqual([]);
  });

  it('are run alone if the question for rows fails', async () => {
    const divide = (by: number) => database.poll('SELECT 1 WHERE 1 / $1::integer > 1', [by]);
    expect(await divide(1)).toEqual([]);
    await expect(Promise.all([divide(0), readId()])).rejects.toThrow('division by zero');
    expect(await divide(1)).toEqual([]);
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
