import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { S3Store } from '../../src/attachments/store/s3-store';
import { S3Settings } from '../../src/config/config';
import { describeFileStore } from '../attachments/support/file-store-suite';

/** Address of a server with S3's protocol; `test/s3/main.mjs` starts one. */
const endpoint = process.env.S3_ENDPOINT!;
const REGION = 'us-east-1';

describe('a store in a bucket', () => {
  const settings: S3Settings = {
    bucket: `files-${process.pid}`,
    prefix: 'messaging/',
    region: REGION,
    endpoint,
    pathStyle: true,
    encryption: 'AES256',
  };

  beforeAll(async () => {
    const client = new S3Client({ region: REGION, endpoint, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: settings.bucket }));
    client.destroy();
  });

  describeFileStore(() => S3Store.open(settings));
});
