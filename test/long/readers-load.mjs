/** Sends the request in its input over and over on four connections, until it is told to end. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

const { url, path, method, headers, body } = JSON.parse(await text(process.stdin));
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const bytes = body === undefined ? undefined : Buffer.from(body, 'base64');
const statuses = {};

function send() {
  const sent = request(`${url}${path}`, { agent, method, headers }, (reply) => {
    reply.resume();
    reply.on('error', () => {});
    reply.once('close', () => {
      statuses[reply.statusCode] = (statuses[reply.statusCode] ?? 0) + 1;
      setImmediate(send);
    });
  });
  sent.once('error', () => setTimeout(send, 50));
  sent.end(bytes);
}
for (let connection = 0; connection < 4; connection += 1) send();
process.once('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses));
  process.exit(0);
});
