// Runs the commands that it is sent, one after the other, in this process: loading the CLI's modules takes
// most of the time of a command that has a process of its own.
require('reflect-metadata');
const { reportFailure } = require('#dist/cli/failure.js');
const { buildProgram } = require('#dist/cli/program.js');

/**
 * Collects the text that is written to a stream from now on.
 *
 * @param {NodeJS.WriteStream} stream
 */
function capture(stream) {
  let text = '';
  stream.write = (/** @type {string | Uint8Array} */ chunk, /** @type {unknown[]} */ ...rest) => {
    text += String(chunk);
    rest.find((argument) => typeof argument === 'function')?.();
    return true;
  };
  return () => text;
}

process.on('message', async (/** @type {{ args: string[], env: NodeJS.ProcessEnv }} */ { args, env }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  process.exitCode = 0;
  await buildProgram().parseAsync(args, { from: 'user' }).catch(reportFailure);
  process.send?.({ code: process.exitCode, stdout: stdout(), stderr: stderr() });
});
process.send?.('ready');
