import { isEntitled, isTrialExpired, rateLimitOf, trialEndFrom } from './plan-policy';

const NOW = new Date('2026-03-15T12:00:00.000Z');

describe('plan policy', () => {
  it('ends a trial 14 days after it began', () => {
    expect(trialEndFrom(new Date('2026-03-01T12:00:00.000Z'))).toEqual(NOW);
  });

  it.each([
    ['a trial that runs', 'TRIAL', new Date(NOW.getTime() + 1), false],
    ['a trial that ends now', 'TRIAL', NOW, true],
    ['a trial without an end', 'TRIAL', null, false],
    ['an upgraded workspace with an old trial', 'STARTER', new Date(0), false],
  ])('%s', (_, planTier, trialEndsAt, expired) => {
    expect(isTrialExpired({ planTier, trialEndsAt }, NOW)).toBe(expired);
  });

  it.each([
    ['ENTERPRISE', [], true],
    ['PRO', [], false],
    ['PRO', ['auditWebhookExport'], true],
  ] as const)('audit export on %s with %j: %s', (planTier, entitlements, entitled) => {
    expect(isEntitled({ planTier, entitlements }, 'auditWebhookExport')).toBe(entitled);
  });

  it("takes the workspace's own rate before 240", () => {
    expect(rateLimitOf({ rateLimit: null })).toBe(240);
    expect(rateLimitOf({ rateLimit: 1000 })).toBe(1000);
  });
});
