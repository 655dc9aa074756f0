import { Readable } from 'node:stream';
import { S3Store } from '../../src/attachments/store/s3-store';
import { newId } from '../../src/common/ids';
import { S3Simulator } from '../support/simulators/s3';
import { describeFileStore } from './support/file-store-suite';

/** Runs the suite of all stores against the simulator of S3. `npm run test:s3` runs it against a server. */
describe('a store in a simulated bucket', () => {
  const s3 = new S3Simulator('files');
  const environment = { ...process.env };
  const open = () =>
    S3Store.open({
      bucket: 'files',
      prefix: 'messaging/',
      region: 'us-east-1',
      endpoint: s3.url,
      pathStyle: true,
      encryption: 'AES256',
    });
  const sourceOf = (text: string) => Readable.from([Buffer.from(text)]);

  beforeAll(async () => {
    await s3.start();
    Object.assign(process.env, s3.environment);
  });
  afterEach(() => s3.recover());
  afterAll(() => {
    process.env = environment;
  });

  describeFileStore(open);

  it.each([['known', 6] as const, ['unknown', undefined]])(
    'leaves a name of which two of %s size write at once to the other',
    async (_, size) => {
      const store = await open();
      const key = { tenantId: newId(), fileId: newId() };
      s3.trouble('conflict');
      const alone = store.put(key, sourceOf('second'), { size });
      await expect(alone).rejects.toThrow('ConditionalRequestConflict');
      expect(await store.size(key)).toBeNull();

      s3.recover();
      await store.put(key, sourceOf('first'), { size: 5 });
      s3.trouble('conflict');
      expect(await store.put(key, sourceOf('second'), { size })).toBe(false);
      s3.recover();
      expect(await store.size(key)).toBe(5);
    },
  );
});
