import { readDocuments, resolved } from '../support/openapi-documents';
import { callIn, createTenant, nameOf, Route, ROUTES } from '../support/routes';
import { JsonSchema } from '../support/schema-arbitrary';
import { TestService } from '../support/service';
import { TestWidget } from '../support/widget';

const WITH_BODY = ROUTES.filter(({ body }) => body).map((route): [string, Route] => [nameOf(route), route]);

/** Sends null for each optional field that is not given, as many generated clients do. */
describe('null in the optional fields of a body (public report 35)', () => {
  let service: TestService;
  let document: any;

  beforeAll(async () => {
    service = await TestService.create();
    document = await readDocuments(service.baseUrl);
  });

  function schemaOf({ method, path }: Route): JsonSchema {
    const operation = document.paths[path.replace(':id', '{id}')][method.toLowerCase()];
    return resolved(operation.requestBody.content['application/json'].schema, document) as JsonSchema;
  }

  /** Lists the optional fields in which the document gives null no meaning. */
  function optionalFieldsOf({ properties = {}, required = [] }: JsonSchema): string[] {
    return Object.entries(properties)
      .filter(([name, schema]) => !required.includes(name) && ![schema.type].flat().includes('null'))
      .map(([name]) => name);
  }

  it.each(WITH_BODY)('counts as left out by %s', async (_, route) => {
    const tenant = await createTenant(service);
    const nulls = Object.fromEntries(optionalFieldsOf(schemaOf(route)).map((name) => [name, null]));
    const body = async () => ({ ...nulls, ...(await route.body!(tenant)) });
    const { status, body: answer } = await callIn(tenant, { ...route, body });
    expect({ status, answer }).toEqual({ status: route.success, answer });
  });

  it.each(WITH_BODY)('is refused by %s in a field that is required', async (_, route) => {
    const tenant = await createTenant(service);
    const given = await route.body!(tenant);
    for (const name of schemaOf(route).required ?? []) {
      const { status, body } = await callIn(tenant, { ...route, body: () => ({ ...given, [name]: null }) });
      expect({ name, status, field: body.error.details[0].field }).toEqual({
        name,
        status: 400,
        field: name,
      });
    }
  });

  it('keeps its meaning where it has one', async () => {
    const { client, conversation, owner } = await createTenant(service);
    const patch = (changes: object) => client.patch(`/conversations/${conversation.id}`, changes);
    await patch({ assignedAgentId: owner.id });
    expect((await patch({ status: null, assignedAgentId: null })).body).toMatchObject({
      status: 'OPEN',
      assignedAgentId: null,
    });
    expect((await patch({ status: null })).status).toBe(400);
  });

  it('counts as left out of a visitor', async () => {
    const { workspace } = await createTenant(service);
    const widget = await TestWidget.connect(service, workspace);
    const profile = { name: null, email: null, jwt: null };
    const visitor = { ...profile, id: 'customer-1', signature: widget.sign('customer-1') };
    expect((await widget.page().open({ visitor })).status).toBe(201);
    expect((await widget.page().open({ visitor: null })).status).toBe(201);
    expect((await widget.page().open({ visitor: { ...visitor, signature: null } })).status).toBe(400);
    // The token of a stranger is no session, but it is read as one.
    const jwt = { ...profile, jwt: 'x.y.z', id: null, signature: null };
    expect((await widget.page().open({ visitor: jwt })).body.error.code).toBe('UNAUTHENTICATED');
  });
});
