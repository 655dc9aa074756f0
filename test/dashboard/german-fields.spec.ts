import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { getMetadataStorage } from 'class-validator';
import { errorTextsDe } from '../../dashboard/web/src/i18n/error-texts-de';
import { CHANNEL_GUIDES } from '../../dashboard/web/src/pages/channels/channel-guides';
import { RedeliverMatching } from '../../src/webhooks/recoveries/webhook-recovery.dto';

type Class = new (...args: never[]) => object;

const ROOT = resolve(__dirname, '../..');
/** Folders of the service whose errors a page of the dashboard can get. */
const ASKED = ['access', 'audit', 'auth', 'channels/adapters', 'channels/connections', 'logins', 'webhooks'];
const AGENTS = 'src/workspaces/agents.service.ts';

const filesBelow = (folder: string, end: string) =>
  readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !name.endsWith('.spec.ts'))
    .map((name) => resolve(ROOT, folder, name));
const classesOf = async (file: string) =>
  Object.values((await import(file)) as object).filter((one): one is Class => typeof one === 'function');

/** Returns the types of the bodies and queries that a controller takes. */
function inputsOf(controller: Class): Class[] {
  const prototype = controller.prototype as object;
  return Object.getOwnPropertyNames(prototype).flatMap((method) => {
    const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as Class[];
    const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as object;
    return Object.keys(args)
      .map((key) => key.split(':').map(Number) as [RouteParamtypes, number])
      .filter(([kind]) => kind === RouteParamtypes.BODY || kind === RouteParamtypes.QUERY)
      .map(([, index]) => types[index]!);
  });
}

function fieldsOf(dto: Class): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return rules.map(({ propertyName }) => propertyName);
}

/** Tests that a page in German names every field of which an error can tell. */
describe('the fields that an error can name have German names:', () => {
  const has = (fields: string[]) => {
    expect(fields.length).toBeGreaterThan(0);
    expect([...new Set(fields)].filter((field) => !(field in errorTextsDe.words)).sort()).toEqual([]);
  };

  it('those of bodies and queries', async () => {
    const files = filesBelow('dashboard/server/src', '.controller.ts');
    const controllers = (await Promise.all(files.map(classesOf))).flat();
    const inputs = controllers.flatMap(inputsOf);
    expect(inputs.length).toBeGreaterThan(25);
    has([...inputs, RedeliverMatching].flatMap(fieldsOf));
  });

  it("those of channels' credentials", () => {
    const guides = Object.values(CHANNEL_GUIDES).flatMap(({ fields }) => fields.map(({ name }) => name));
    has([...guides, 'allowedOrigins']);
  });

  it('those that services name', () => {
    const files = [...ASKED.flatMap((folder) => filesBelow(`src/${folder}`, '.ts')), resolve(ROOT, AGENTS)];
    const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    has([...texts.matchAll(/invalidBody\(\s*'([^']+)'/g)].map(([, field]) => field!));
  });
});
