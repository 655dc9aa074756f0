import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { portOf } from '../processes.mjs';
import { ROOT } from '../servers/home.mjs';

const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** @typedef {import('../../test/support/simulators/telegram.js').TelegramSimulator} TelegramSimulator */
/** @typedef {import('../../test/support/simulators/whatsapp.js').WhatsAppSimulator} WhatsAppSimulator */
/** @typedef {import('../../test/support/simulators/messenger.js').MessengerSimulator} MessengerSimulator */
/** @typedef {import('../../test/support/simulators/instagram.js').InstagramSimulator} InstagramSimulator */

/**
 * The classes of the simulators.
 *
 * @typedef {object} Classes
 * @property {typeof import('../../test/support/simulators/telegram.js').TelegramSimulator} TelegramSimulator
 * @property {typeof import('../../test/support/simulators/whatsapp.js').WhatsAppSimulator} WhatsAppSimulator
 * @property {typeof import('../../test/support/simulators/messenger.js').MessengerSimulator}
 *   MessengerSimulator
 * @property {typeof import('../../test/support/simulators/instagram.js').InstagramSimulator}
 *   InstagramSimulator
 */

/** @typedef {Awaited<ReturnType<typeof startSimulators>>} Simulators */

/**
 * Starts the providers that the tests use, so that every channel works without an account anywhere.
 *
 * @param {string} folder for what is compiled
 */
export async function startSimulators(folder) {
  await promisify(execFile)(process.execPath, [TSC, '-p', 'tsconfig.simulators.json', '--outDir', folder], {
    cwd: ROOT,
  });
  const load = (/** @type {string} */ name) =>
    import(pathToFileURL(join(folder, 'simulators', `${name}.js`)).href);
  const modules = await Promise.all(['telegram', 'whatsapp', 'messenger', 'instagram'].map(load));
  /** @type {Classes} */
  const { TelegramSimulator, WhatsAppSimulator, MessengerSimulator, InstagramSimulator } = Object.assign(
    {},
    ...modules,
  );
  const [telegram, whatsApp, messenger, instagram] = await Promise.all([
    new TelegramSimulator().start(),
    new WhatsAppSimulator().start(),
    new MessengerSimulator().start(),
    new InstagramSimulator().start(),
  ]);
  const graphUrl = await startGraph({ whatsApp, messenger });
  const newBotToken = () => TelegramSimulator.token(Number(newId()));
  return { telegram, newBotToken, whatsApp, messenger, instagram, graphUrl };
}

/** Makes the id of a new account: those of earlier runs are still connected. */
export const newId = (prefix = '') => `${prefix}${randomInt(10 ** 12, 10 ** 13)}`;

/** The first digit of WhatsApp's numbers here; a page's id begins with another one. */
export const PHONE_NUMBER_PREFIX = '1';

/**
 * Starts one address for WhatsApp and Messenger, as Meta has it: the id in a path says which of them is
 * meant.
 *
 * @param {{ whatsApp: WhatsAppSimulator, messenger: MessengerSimulator }} simulators
 */
async function startGraph({ whatsApp, messenger }) {
  const isWhatsApp = new RegExp(`^/v[\\d.]+/${PHONE_NUMBER_PREFIX}`);
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    const { url: origin } = isWhatsApp.test(url) ? whatsApp : messenger;
    const onward = httpRequest(`${origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${portOf(server)}`;
}
