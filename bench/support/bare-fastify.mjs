/**
 * The yardstick of `bench:rest`: a Fastify route that parses the same request and answers the same bytes, and does
 * nothing else. Takes the reply on standard input, prints its address, tells its CPU time at /cpu.
 */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';

const reply = readFileSync(0);
const app = Fastify();
app.post('/api/v1/evaluation', (request, response) => {
  const body = /** @type {{ agent_name?: unknown } | null} */ (request.body);
  if (typeof body?.agent_name !== 'string') throw new Error('not the request of the benchmark');
  return response.type('application/json; charset=utf-8').send(reply);
});
app.get('/cpu', () => {
  const { user, system } = process.cpuUsage();
  return { seconds: (user + system) / 1e6 };
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
