import { Client } from 'pg';
import { ConnectedWorkspace, deliveryOf, waitForStatus } from '../support/connected-workspace';
import { OwnRedis } from '../support/own-redis';
import { countUnconnected, insertRouted } from '../support/routed-messages';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { TelegramSimulator } from '../support/simulators/telegram';
import { IS_CLAIM, stopAfterUpdate } from '../support/stopped-updates';
import { letTimePass, waitFor } from '../support/wait';

/** Time in which a lease ends and a sweep finds its message. */
const LEASE_EXPIRES_MS = 30_000;
/** Time of several polls, in which one would have sent what is due. */
const SEVERAL_POLLS_MS = 2_500;

describe('outbound messages', () => {
  let telegram: TelegramSimulator;
  let api: TestService;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
  });
  beforeEach(async () => {
    api = await TestService.create({ role: 'api', env: telegram.environment });
  });
  afterEach(async () => {
    telegram.recover();
    await api.close();
  });

  describe('when a worker stops', () => {
    it('never sends again what a killed worker may have sent', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, telegram.environment);
      telegram.troubleNext({ kind: 'slow' });
      const [message, next] = [await chat.send('who knows'), await chat.send('the next')];
      await waitFor('the call', () => telegram.textsTo(chat.customerId).length === 1);
      worker.kill('SIGKILL');
      await worker.exited;
      const another = await ServiceProcess.start('worker', api.stores, telegram.environment);
      try {
        await waitForStatus(api, message, 'UNKNOWN', LEASE_EXPIRES_MS);
        await waitForStatus(api, next, 'SENT', LEASE_EXPIRES_MS);
        expect((await deliveryOf(api, message)).error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
        expect(telegram.textsTo(chat.customerId)).toEqual(['who knows', 'the next']);
      } finally {
        another.kill('SIGTERM');
        await another.exited;
      }
    }, 90_000);

    it('sends nothing after a disconnection that has answered, though it had committed a claim', async () => {
      const account = await ConnectedWorkspace.telegram(api);
      const chat = await account.chat();
      const worker = await ServiceProcess.start('worker', api.stores, telegram.environment);
      const gate = new Client({ connectionString: api.stores.databaseAdminUrl });
      await gate.connect();
      const update = { table: 'outbound_messages', when: IS_CLAIM, atCommit: true };
      const work = () => chat.send('too late');
      await stopAfterUpdate({ gate, service: api }, update, work, () => worker.kill('SIGSTOP'));
      await gate.end();
      await account.disconnect();
      worker.kill('SIGCONT');
      await letTimePass(SEVERAL_POLLS_MS);
      expect(telegram.textsTo(chat.customerId)).toEqual([]);
      worker.kill('SIGTERM');
      await worker.exited;
    }, 90_000);

    it('finishes and records what it is sending', async () => {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      const worker = await ServiceProcess.start('worker', api.stores, telegram.environment);
      telegram.troubleNext({ kind: 'slow', ms: 1_500 });
      const [message, next] = [await chat.send('in flight'), await chat.send('not claimed')];
      await waitFor('the call', () => telegram.textsTo(chat.customerId).length === 1);
      worker.kill('SIGTERM');

      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(await deliveryOf(api, message)).toEqual({ status: 'SENT', error: null });
      expect(await deliveryOf(api, next)).toEqual({ status: 'QUEUED', error: null });
    }, 40_000);
  });

  describe('over a connection that is disconnected', () => {
    it('what waits fails in steps, although workers stop in between', async () => {
      const count = 3_000;
      const workspace = await ConnectedWorkspace.telegram(api);
      const failed = () => countUnconnected(api, workspace);
      await insertRouted(api, workspace, await workspace.chat(), count);
      await workspace.disconnect();
      expect(await failed()).toBe(0);
      let worker = await TestService.create({ role: 'worker', beside: api, env: telegram.environment });
      await waitFor('the first step', async () => (await failed()) > 0);
      await worker.close();
      worker = await TestService.create({ role: 'worker', beside: api, env: telegram.environment });
      try {
        await waitFor('the last step', async () => (await failed()) === count);
        expect(await api.query('SELECT FROM outbound_messages')).toEqual([]);
      } finally {
        await worker.close();
      }
    }, 40_000);
  });

  it('sends and retries on schedule without Redis', async () => {
    const ownRedis = await OwnRedis.start();
    const env = { ...telegram.environment, REDIS_URL: ownRedis.url };
    const worker = await TestService.create({ role: 'worker', beside: api, env });
    try {
      const chat = await (await ConnectedWorkspace.telegram(api)).chat();
      await ownRedis.kill();
      telegram.troubleNext(TelegramSimulator.refusal(500, 'Internal Server Error'));
      const [first, second] = [await chat.send('first'), await chat.send('second')];
      await waitFor('the failure', () => telegram.textsTo(chat.customerId).length === 1);
      const failedAt = performance.now();
      await waitFor('the retry', () => telegram.textsTo(chat.customerId).length === 2);
      // A backoff of 2 s and up to 10 %, and a second for the poll; the rest is for a slow machine.
      expect(performance.now() - failedAt).toBeLessThan(5_000);
      for (const message of [first, second]) await waitForStatus(api, message, 'SENT');
      expect(telegram.textsTo(chat.customerId)).toEqual(['first', 'first', 'second']);
    } finally {
      await worker.close();
      await ownRedis.stop();
    }
  }, 40_000);
});
