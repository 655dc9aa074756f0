import { CallCounter } from '../support/call-counter';
import { createTenant, nameOf, ROUTES, Tenant } from '../support/routes';
import { TestService } from '../support/service';

let service: TestService;
let tenant: Tenant;
let calls: CallCounter;

beforeAll(async () => {
  service = await TestService.create();
  tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  calls = await CallCounter.start();
});
afterAll(async () => {
  await calls.stop();
});

/** Returns how often class-validator was called since the last call of this function. */
async function takeValidations(): Promise<number> {
  return (await calls.take())
    .filter(({ url }) => url.endsWith('/class-validator/cjs/index.js'))
    .filter(({ functionName }) => functionName === 'validateSync')
    .reduce((sum, { count }) => sum + count, 0);
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
