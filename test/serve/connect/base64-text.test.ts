import { Code, ConnectError } from '@connectrpc/connect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64 } from '../../../src/serve/connect/base64-text.js';
import { exchange, restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { suiteService } from '../../support/service-suite.js';

const AGENT = 'base64-agent-01';
const TEXT = 'application/grpc-web-text';

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const found: Uint8Array[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return Buffer.concat(found).toString('hex');
}
async function* each(parts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield Buffer.from(part, 'latin1');
}

it('base64 is read in parts that were encoded by themselves, and in chunks that end anywhere', async () => {
  const cases = fc.tuple(fc.array(fc.uint8Array({ maxLength: 9 })), fc.array(fc.nat(40)));
  await fc.assert(
    fc.asyncProperty(cases, async ([parts, cuts]) => {
      const text = parts.map((part) => Buffer.from(part).toString('base64')).join('');
      const places = [
        0,
        ...cuts.filter((cut) => cut < text.length).sort((one, other) => one - other),
        text.length,
      ];
      const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
      expect(await bytesOf(fromBase64(each(chunks)))).toBe(Buffer.concat(parts).toString('hex'));
    }),
  );
});

it.each(['!!!!', 'QQ=', 'QQ', 'Q===', 'QUJD QUJD', 'QQ==QQ', '====', 'QQ=A'])('%j is none', async (text) => {
  await expect(bytesOf(fromBase64(each([text])))).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(bytesOf(fromBase64(each([...text])))).rejects.toBeInstanceOf(ConnectError);
});

describe('gRPC-Web in base64', () => {
  const service = suiteService();

  const envelope = (message: Buffer) => {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
  };
  /** Messages and the trailer of a reply, whose parts may each be padded. */
  const replied = (text: string) => {
    const parts = text.match(/[^=]+={0,2}/g) ?? [];
    let bytes = Buffer.concat(parts.map((part) => Buffer.from(part, 'base64')));
    const messages: Buffer[] = [];
    let trailer = '';
    while (bytes.length > 0) {
      const end = 5 + bytes.readUInt32BE(1);
      if (((bytes[0] ?? 0) & 0x80) === 0) messages.push(bytes.subarray(5, end));
      else trailer = bytes.subarray(5, end).toString();
      bytes = bytes.subarray(end);
    }
    return { messages, trailer };
  };
  const call = async (method: string, message: Buffer, contentType = TEXT) => {
    const body = envelope(message).toString('base64');
    const path = `/enforcement.v1.${method}`;
    const answer = await exchange(service.url, {
      method: 'POST',
      path,
      headers: { 'content-type': contentType, accept: TEXT, 'x-grpc-web': '1' },
      body,
    });
    return { ...answer, ...replied(answer.text) };
  };
  /** A string in field 1 or 2 of a message. */
  const field = (number: number, text: string) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);

  it.each([TEXT, `${TEXT}+proto`])('serves calls of %s as those in bytes', async (contentType) => {
    await seeder(restClient(service.url)).agent(AGENT);
    const { status, headers, messages, trailer } = await call(
      'AgentService/GetAgent',
      field(1, AGENT),
      contentType,
    );
    expect([status, headers['content-type']]).toEqual([200, contentType]);
    expect(trailer).toMatch(/^grpc-status: 0\r\n/);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.toString('latin1')).toContain(AGENT);
  });

  it('has errors in the trailer', async () => {
    const { status, headers, trailer } = await call('AgentService/GetAgent', field(1, 'no-such-agent-1'));
    expect([status, headers['content-type']]).toEqual([200, TEXT]);
    expect(trailer).toMatch(/grpc-status: 5\r\n/);
  });
});
