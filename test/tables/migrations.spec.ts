import { createHash } from 'node:crypto';
import ts from 'typescript';
import { readSources } from './source-files';

/**
 * Hashes of the code of every migration, without comments and layout. A migration that is applied somewhere
 * is never changed, so this list only grows.
 */
const HASHES: Record<string, string> = {
  'migrations/1795392000000-workspaces.ts': '39e6f5222a4e5afd',
  'migrations/1795392000001-api-keys.ts': '85741efd3801fdb5',
  'migrations/1795392000002-audit.ts': '404b0c177ae6964c',
  'migrations/1795392000003-idempotency.ts': 'b2a1a8d5474e71ed',
  'migrations/1795392000004-outbox.ts': 'dcca7308b34db9f4',
  'migrations/1795392000005-contacts.ts': 'aa015577a09a5da2',
  'migrations/1795392000006-conversations.ts': 'ab4517b09157c9fd',
  'migrations/1795392000007-messages.ts': '2c52ef67750a1697',
  'migrations/1795392000008-webhook-endpoints.ts': '21c231c31f8d3683',
  'migrations/1795392000009-webhook-deliveries.ts': 'c35fa669a6d263a4',
  'migrations/1795392000010-webhook-recoveries.ts': 'b8db15e0f99b14bf',
  'migrations/1795392000011-channels.ts': '331e4e0c2d5b9336',
  'migrations/1795392000012-contact-erasures.ts': 'd912a143d8012f68',
  'migrations/1795392000013-logins.ts': 'b8e80db72fb40091',
  'migrations/1795435200010-unread-messages.ts': 'eb6739e8f6ca7e9c',
  'migrations/1795435200011-time-of-queueing.ts': 'c57ed2bb2d726790',
  'migrations/1795435200012-composed-names.ts': 'fff4a36f427d9ba5',
  'migrations/1795438800000-parked-event-tries.ts': '45ed3d7b2426bf27',
  'migrations/1795438800001-queue-floors.ts': 'afc37a0c6eb5caa6',
  'migrations/1795442400000-senders.ts': 'bb12bc6c34f8d40f',
  'migrations/1795449600000-link-makers.ts': 'c5da466f8f523cf0',
  'migrations/1795453200000-endpoint-edits.ts': '8cb920e31f21df1e',
  'migrations/1795456800000-second-factor-demands.ts': '572e70d588320073',
  'migrations/1795456800001-erased-agents.ts': '8f562400c0c35f6e',
  'migrations/1795471200000-late-deliveries.ts': 'afd3a365cc6d31e1',
  'migrations/1795474800000-endpoint-deactivations.ts': 'a5861a10c13b6315',
  'migrations/1795474800001-rounds-in-rollups.ts': 'bd08c88ffc49b00b',
  'migrations/1795474800002-received-messages.ts': '89d09bf0598fb85c',
  'migrations/1795478400000-conversation-activity.ts': '15d8a842b3c47f6c',
  'migrations/1795482000000-snooze-ends.ts': '4c5ee67684ee6ec1',
  'migrations/1795485900000-erased-contacts.ts': 'f57b5d49cd86e36e',
  'migrations/1795486000000-read-marks.ts': 'eddbd1485a185c1e',
  'migrations/1795486000001-agent-releases.ts': '4f9800e4e491ff1c',
  'migrations/1795485700000-notes.ts': '9fa4bc1430b67ac7',
  'migrations/1795485700001-drafts.ts': 'f6f068b2e08b8d69',
  'migrations/1795485600000-message-search.ts': 'bcab2a558c070317',
  'migrations/1795485700002-saved-replies.ts': '63604d6f5f005078',
  'migrations/1795486100000-look-ups.ts': '7193ce2f6f7dcb83',
  'migrations/support/partitions.ts': '223117a7e3ea7c0a',
  'migrations/1795487000000-repeated-messages.ts': 'b1337e50e9cc0bc1',
  'migrations/1795488100000-changed-conversations.ts': 'a3ecbd44269ad993',
  'migrations/1795488200000-contact-events.ts': '77af43712668b522',
  'migrations/1795488200001-endpoint-contexts.ts': '003d8908e95cb71b',
  'migrations/1795801000000-folded-texts.ts': '1bbebc4f5e4e092c',
  'migrations/1795806000000-secret-rollers.ts': '25480c441184317c',
  'migrations/1795802000000-recovery-outcomes.ts': '8ce899937667c93a',
  'migrations/1795802000001-deliveries-of-recoveries.ts': 'b8dd28a2fa96fedb',
  'migrations/1795800300000-endpoint-makers.ts': '4c3a685ca34f18eb',
  'migrations/1795800400000-joined-contacts.ts': 'd409a41f803ecfa6',
  'migrations/1795800500000-customer-changes.ts': 'ef4c4b8f3337709f',
  'migrations/1795805000000-lasting-provider-ids.ts': '0536e54913058db8',
  'migrations/1795805000001-waiting-changes.ts': '1625ae9397711ec2',
  'migrations/1795804000000-provider-forms.ts': 'c78e06ee93a29b3a',
  'migrations/1795803000000-dismissed-messages.ts': '62d34af0cb50d903',
  'migrations/1795900000000-files.ts': 'ccc5bf951adfbe91',
  'migrations/1795900100000-attachment-fetches.ts': '6c6be867e4d8c458',
  'migrations/1795900200000-file-stores.ts': '452e91339ddd4edd',
  'migrations/1796004000000-waiting-messages.ts': '4e18e0b799853698',
  'migrations/1796014000000-push-addresses.ts': 'cb81aea26f899332',
  'migrations/1796014000001-reception-checks.ts': '374d9cf142884a70',
  'migrations/1796004000011-reply-alerts.ts': 'e7438d89549b0663',
  'migrations/1796004000012-alert-mails.ts': '50841dd8164d1e1b',
  'migrations/1796004000112-owed-alerts.ts': '45033ea46f6df6a6',
  'migrations/1795902000000-renditions.ts': '94567be277f2c2ee',
  'migrations/1795903000001-alerts.ts': '5e7b0f52da015ceb',
  'migrations/1795901000000-message-parts.ts': '91e8ae8ba6de611a',
  'migrations/1795903000002-automatic-recoveries.ts': 'ae3229b9f64fd2f7',
  'migrations/1795903000003-answer-notices.ts': 'ed9ae3e39bffd32a',
  'migrations/1796004000013-agent-notices.ts': 'fb3daa7882b39002',
  'migrations/1795807000000-refolded-texts.ts': '04955207f4eb0620',
  'migrations/1795903000000-unused-uploads.ts': 'c94c2993ec1677af',
};

describe('migrations', () => {
  const sources = [...readSources('migrations')].filter(
    ([path]) => !/concurrent-index|distributed-tables/.test(path),
  );

  it('are never changed', () => {
    expect(Object.fromEntries(sources.map(([path, source]) => [path, hashOf(source)]))).toEqual(HASHES);
  });
});

function hashOf(source: ts.SourceFile): string {
  const tokens: string[] = [];
  const collect = (node: ts.Node): void => {
    const children = node.getChildren(source);
    if (children.length === 0 && !ts.isJSDoc(node)) tokens.push(node.getText(source));
    children.filter((child) => !ts.isJSDoc(child)).forEach(collect);
  };
  collect(source);
  return createHash('sha256').update(tokens.join(' ')).digest('hex').slice(0, 16);
}
