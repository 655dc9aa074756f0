import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { MessagingHost } from '../support/messaging-host';

interface Row {
  quotient: number;
  pid: number;
}

const DIVIDE = 'SELECT $1::uuid, 12 / $2::int AS quotient, pg_backend_pid() AS pid';

describe('Reads that are asked in one tick', () => {
  let host: MessagingHost;
  let database: Database;

  beforeAll(async () => {
    host = await MessagingHost.create();
    database = host.get(Database);
  });

  const tenantId = newId();
  const divideBy = (divisors: number[]) =>
    Promise.allSettled(divisors.map((divisor) => database.pipelinedRead<Row>(DIVIDE, [tenantId, divisor])));

  it('share a connection, and each has its own answer', async () => {
    const rows = (await divideBy([1, 2, 3])).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : [],
    );
    expect(rows.map(([row]) => row?.quotient)).toEqual([12, 6, 4]);
    expect(new Set(rows.map(([row]) => row?.pid)).size).toBe(1);
  });

  it('fail alone', async () => {
    const outcomes = await divideBy([4, 0, 6]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { message: 'division by zero' } });
  });
});
