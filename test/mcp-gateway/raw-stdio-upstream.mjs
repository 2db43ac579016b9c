/** A server over stdio that answers with what it was sent, number for number. */
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize:
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}',
  'tools/list': '{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}',
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const given = /"arguments":(.*),"_meta"/.exec(line)?.[1] ?? '{}';
  const known = /** @type {Record<string, string | undefined>} */ (RESULTS)[method];
  const isTwice = given.includes('twice');
  const result = isTwice
    ? '{"content":[],"content":[]}'
    : (known ?? `{"content":[{"type":"text","text":${JSON.stringify(given)}}],"structuredContent":${given}}`);
  const isKnown = known !== undefined || method === 'tools/call';
  const members = isKnown ? `"result":${result}` : '"error":{"code":-32601,"message":"no"}';
  process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${members}}\n`);
}
