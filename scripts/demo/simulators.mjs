import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from '../app.mjs';

const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');

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
  const load = (/** @type {string} */ name) => import(pathToFileURL(join(folder, `${name}.js`)).href);
  const [{ TelegramSimulator }, { WhatsAppSimulator }, { MessengerSimulator }, { InstagramSimulator }] =
    await Promise.all(['telegram', 'whatsapp', 'messenger', 'instagram'].map(load));
  const [telegram, whatsApp, messenger, instagram] = await Promise.all([
    new TelegramSimulator().start(),
    new WhatsAppSimulator().start(),
    new MessengerSimulator().start(),
    new InstagramSimulator().start(),
  ]);
  return { telegram, whatsApp, messenger, instagram, graphUrl: await startGraph({ whatsApp, messenger }) };
}

/** What the ids of WhatsApp's numbers begin with here; a page's id begins with another digit. */
export const PHONE_NUMBER_PREFIX = '1';

/** One address for WhatsApp and Messenger, as Meta has it: whose id a path names says which of them is meant. */
async function startGraph({ whatsApp, messenger }) {
  const isWhatsApp = new RegExp(`^/v[\\d.]+/${PHONE_NUMBER_PREFIX}`);
  const server = createServer((request, response) => {
    const { url: origin } = isWhatsApp.test(request.url) ? whatsApp : messenger;
    const { method, headers } = request;
    const onward = httpRequest(`${origin}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}
