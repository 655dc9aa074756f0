// An https receiver in a process of its own. It answers every POST at once, but those to /hang never. To its parent it
// tells, when asked, how long each event took from its making to here.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** Milliseconds, by path. */
let latencies = [];

const server = createServer(
  {
    cert: readFileSync(process.env.CERT_FILE),
    key: readFileSync(process.env.KEY_FILE),
    keepAliveTimeout: 60_000,
  },
  (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/hang') return;
      const { data } = JSON.parse(Buffer.concat(chunks).toString());
      latencies.push(Date.now() - Date.parse(data.message.createdAt));
      response.end();
    });
  },
);

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

process.on('message', () => {
  process.send({ latencies });
  latencies = [];
});
process.on('disconnect', () => process.exit());
