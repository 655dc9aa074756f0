import type { Message } from '../protocol/types';
import { fileToUpload, Outbox } from './outbox';
import type { OutboxRecord } from './outbox-record';
import { OutboxStore } from './outbox-store';

const OWNER = 'anonymous:1';

/** Makes an outbox in memory alone, as in a browser that refuses IndexedDB, which Node lacks. */
function outboxOf(owner = OWNER, onChange: ConstructorParameters<typeof Outbox>[2] = () => {}): Outbox {
  return new Outbox(owner, new OutboxStore('test'), onChange);
}

const storedAs = (clientMessageId: string): Message => ({
  id: 'message-1',
  senderType: 'CUSTOMER',
  senderName: null,
  clientMessageId,
  body: 'one',
  createdAt: '2026-11-22T10:00:00.000Z',
  delivery: { status: null },
});
const bodies = (outbox: Outbox) => outbox.records.map(({ body, state }) => `${body} ${state}`);

describe('Outbox', () => {
  it('gives the messages in the order of writing', async () => {
    const outbox = outboxOf();
    for (const body of ['one', 'two', 'three']) await outbox.add({ body });
    expect(bodies(outbox)).toEqual(['one waiting', 'two waiting', 'three waiting']);
    expect(outbox.nextToSend()?.body).toBe('one');
    await outbox.markFailed(outbox.nextToSend()!);
    expect(outbox.nextToSend()?.body).toBe('two');
  });

  it('sends what failed again, in its old place', async () => {
    const outbox = outboxOf();
    await outbox.add({ body: 'one' });
    await outbox.add({ body: 'two' });
    const [first] = outbox.records;
    await outbox.markFailed(first!);
    await outbox.retry(first!.clientMessageId);
    expect(outbox.nextToSend()?.body).toBe('one');
  });

  it('sends again what the service has lost, and nothing else', async () => {
    const outbox = outboxOf();
    await outbox.add({ body: 'one' });
    await outbox.markSent(storedAs(outbox.records[0]!.clientMessageId));
    await outbox.sendAgainUnless(() => true);
    expect(bodies(outbox)).toEqual(['one sent']);
    await outbox.sendAgainUnless(() => false);
    expect(bodies(outbox)).toEqual(['one waiting']);
  });

  it("takes another tab's copy if it is newer, and no other visitor's", async () => {
    const outbox = outboxOf();
    await outbox.add({ body: 'one' });
    const record = outbox.records[0]!;
    expect(outbox.take({ ...record, state: 'failed' })).toBe(false);
    expect(outbox.take({ ...record, state: 'failed', revision: 2 })).toBe(true);
    expect(outbox.take({ ...record, clientMessageId: 'x', owner: 'user:2' })).toBe(false);
    expect(bodies(outbox)).toEqual(['one failed']);
  });

  it('hands what is unsent to the visitor who was identified', async () => {
    const anonymous = outboxOf();
    const identified = outboxOf('user:1');
    for (const body of ['one', 'two']) await anonymous.add({ body });
    await anonymous.markSent(storedAs(anonymous.records[0]!.clientMessageId));
    await anonymous.moveTo(identified);
    expect(bodies(anonymous)).toEqual(['one sent']);
    expect(bodies(identified)).toEqual(['two waiting']);
  });

  it('tells other tabs each change once', async () => {
    const changes: (string | null)[] = [];
    const outbox = outboxOf(OWNER, (record) => changes.push(record && `${record.state} ${record.revision}`));
    await outbox.add({ body: 'one' });
    const { clientMessageId } = outbox.records[0]!;
    await outbox.markSent(storedAs(clientMessageId));
    await outbox.markSent(storedAs(clientMessageId));
    expect(changes).toEqual(['waiting 1', 'sent 2']);
  });

  describe('with files', () => {
    const file = (fileId: string) => ({ fileId, name: `${fileId}.png`, type: 'image/png', size: 3 });
    const uploaded = { uploadId: 'upload-1', isUploaded: true };

    it('sends a text before an older message whose files are not uploaded', async () => {
      const outbox = outboxOf();
      await outbox.add({ body: 'with files', files: [file('one'), file('two')] });
      await outbox.add({ body: 'text' });
      expect(outbox.nextToSend()?.body).toBe('text');
      const record = outbox.nextToUpload()!;
      for (const fileId of ['one', 'two']) {
        expect(fileToUpload(outbox.nextToUpload()!)).toMatchObject({ fileId });
        await outbox.changeFile(record, fileId, uploaded);
      }
      expect(outbox.nextToUpload()).toBeUndefined();
      expect(outbox.nextToSend()?.body).toBe('with files');
    });

    it('uploads them again for another visitor, and when the service does not know them', async () => {
      const [outbox, other] = [outboxOf(), outboxOf('user:1')];
      await outbox.add({ body: '', files: [file('one')] });
      await outbox.changeFile(outbox.records[0]!, 'one', uploaded);
      await outbox.uploadAgain(outbox.records[0]!);
      expect(outbox.nextToUpload()).toMatchObject({ isRepeated: true, files: [file('one')] });
      await outbox.changeFile(outbox.records[0]!, 'one', uploaded);
      await outbox.moveTo(other);
      expect(other.nextToUpload()?.files).toEqual([file('one')]);
    });

    it('cancels a message in every tab, whatever an upload says afterwards', async () => {
      const changes: OutboxRecord[] = [];
      const outbox = outboxOf(OWNER, (record) => record && changes.push(record));
      const otherTab = outboxOf();
      await outbox.add({ body: '', files: [file('one')] });
      const record = outbox.records[0]!;
      otherTab.take(record);
      const before = changes.length;
      const changing = outbox.changeFile(record, 'one', uploaded);
      await outbox.cancel(record.clientMessageId);
      await changing;
      await outbox.markFailed(record, 'fileGone');
      await outbox.markSent(storedAs(record.clientMessageId));
      for (const change of changes.slice(before)) otherTab.take(change);
      expect([outbox.records, otherTab.records]).toEqual([[], []]);
      expect(new Set(changes.slice(before).map(({ state }) => state))).toEqual(new Set(['cancelled']));
      // The upload, whose id came late, is known to whoever takes the message back.
      expect(outbox.nextToSend()).toMatchObject({ state: 'cancelled', files: [uploaded] });
    });

    it("cancels a message that another tab has changed or sent, whichever tab's copy is newer", async () => {
      const changes: OutboxRecord[] = [];
      const owner = outboxOf(OWNER, (record) => record && changes.push(record));
      const otherTab = outboxOf(OWNER, (record) => record && changes.push(record));
      await owner.add({ body: 'one' });
      const record = owner.records[0]!;
      otherTab.take(record);
      await owner.markFailed(record);
      await owner.retry(record.clientMessageId);
      await owner.markSent(storedAs(record.clientMessageId));
      const sent = changes.at(-1)!;
      await otherTab.cancel(record.clientMessageId);
      const cancelled = changes.at(-1)!;
      expect(sent.revision).toBeGreaterThan(cancelled.revision);
      owner.take(cancelled);
      otherTab.take(sent);
      for (const outbox of [owner, otherTab]) {
        expect(outbox.records).toEqual([]);
        expect(outbox.nextToSend()?.state).toBe('cancelled');
      }
    });

    it('forgets a cancelled message for good once it is taken back', async () => {
      const outbox = outboxOf();
      await outbox.add({ body: 'one' });
      const record = outbox.records[0]!;
      await outbox.cancel(record.clientMessageId);
      await outbox.forget(record);
      expect(outbox.nextToSend()).toBeUndefined();
      outbox.take({ ...record, revision: 9 });
      expect(outbox.records).toEqual([]);
      expect(outbox.nextToSend()?.state).toBe('cancelled');
    });

    it('says why a file cannot be sent, until it is tried again', async () => {
      const outbox = outboxOf();
      await outbox.add({ body: '', files: [file('one')] });
      await outbox.markFailed(outbox.records[0]!, 'fileGone');
      expect(outbox.records[0]).toMatchObject({ state: 'failed', problem: 'fileGone' });
      await outbox.retry(outbox.records[0]!.clientMessageId);
      expect(outbox.records[0]?.problem).toBeUndefined();
    });

    it('deletes the bytes with the last message that has them', async () => {
      const store = new OutboxStore('test');
      const outbox = new Outbox(OWNER, store, () => {});
      await store.files.put('one', new Blob(['abc']));
      for (const body of ['one', 'two']) await outbox.add({ body, files: [file('one')] });
      await outbox.forget(outbox.records[0]!);
      expect(await (await store.files.get('one'))?.text()).toBe('abc');
      await outbox.forget(outbox.records[0]!);
      expect(await store.files.get('one')).toBeNull();
    });
  });
});
