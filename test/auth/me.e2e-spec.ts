import { TestService } from '../support/service';

describe('GET /api/v1/me', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });

  it('shows the key and its scopes', async () => {
    const workspace = await service.make.workspace({ name: 'Acme', planTier: 'STARTER' });
    const key = await service.make.apiKey(workspace, ['messages:read', 'contacts:read']);

    const { status, body } = await service.client.as(key).get('/me');

    expect(status).toBe(200);
    expect(body).toEqual({
      apiKeyId: key.id,
      scopes: ['messages:read', 'contacts:read'],
      tenant: { id: workspace.id, name: 'Acme', slug: workspace.slug, planTier: 'STARTER' },
    });
  });

  it.each(['TRIAL', 'STARTER', 'PRO', 'ENTERPRISE'] as const)('names the plan %s', async (planTier) => {
    const key = await service.make.apiKey(await service.make.workspace({ planTier }));
    expect((await service.client.as(key).get('/me')).body.tenant.planTier).toBe(planTier);
  });
});
