import { Session } from 'node:inspector/promises';
import { createTenant, nameOf, ROUTES, Tenant } from '../support/routes';
import { TestService } from '../support/service';

const session = new Session();
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await TestService.create();
  tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  await service.close();
});

/** Returns how often class-validator was called since the last call of this function. */
async function takeValidations(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.endsWith('/class-validator/cjs/index.js'))
    .flatMap(({ functions }) => functions)
    .filter(({ functionName }) => functionName === 'validateSync')
    .reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
}

it.each(ROUTES.filter(({ body }) => body).map((route) => [nameOf(route), route] as const))(
  'validates the body of %s once',
  async (_, { method, path, thing, body, success }) => {
    const id = (await thing?.idOf(tenant)) ?? '';
    const request = { method, path: path.replace(':id', id), body: await body!(tenant) };
    await takeValidations();
    const { status } = await tenant.client.send(request);
    expect(status).toBe(success);
    expect(await takeValidations()).toBe(1);
  },
);
