import http2 from 'node:http2';
import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { CreateEventsRequestSchema } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';

/** What a service answers to a request, without what differs from call to call. */
export interface RawReply {
  readonly headers: Record<string, unknown>;
  readonly body: string;
  readonly trailers: Record<string, unknown>;
}

const VARIABLE = new Set(['date', 'x-request-id']);

/** Sends one request over HTTP/2, which every protocol can use. */
export async function exchange(
  url: string,
  path: string,
  contentType: string,
  body: Uint8Array,
): Promise<RawReply> {
  const session = http2.connect(url);
  try {
    return await exchangeOver(session, path, contentType, body);
  } finally {
    session.close();
  }
}

/** The same over a session, which stays open. */
export function exchangeOver(
  session: http2.ClientHttp2Session,
  path: string,
  contentType: string,
  body: Uint8Array,
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': contentType,
      ...(contentType.startsWith('application/grpc') ? { te: 'trailers' } : {}),
    });
    const chunks: Buffer[] = [];
    let headers = {};
    let trailers = {};
    stream.on('response', (given) => {
      headers = lasting(given);
    });
    stream.on('trailers', (given) => {
      trailers = lasting(given);
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      const lastingText = text.replace(/"timestamp":"[^"]*"/g, '"timestamp":""');
      resolve({ headers, body: lastingText, trailers });
    });
    session.once('error', reject);
    stream.once('close', () => session.removeListener('error', reject));
    stream.on('error', reject);
    stream.end(body);
  });
}

function lasting(headers: http2.IncomingHttpHeaders): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !VARIABLE.has(name)));
}

/** A message in the envelope of gRPC, gRPC-Web and the streams of Connect. */
export function envelope(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** An event in the form of the JSON routes. */
export function plainEvent(id: string, more: JsonObject = {}): JsonObject {
  return {
    control_execution_id: id,
    trace_id: `trace-${id}`,
    span_id: 'span',
    agent_name: 'reading-bot-01',
    control_id: 7,
    control_name: 'no-card-numbers',
    check_stage: 'pre',
    applies_to: 'tool_call',
    action: 'deny',
    matched: true,
    confidence: 0.1,
    timestamp: '2026-01-05T12:00:00.123456+01:00',
    execution_duration_ms: 1.1,
    evaluator_name: 'regex',
    selector_path: 'input.text',
    metadata: { note: 'ö'.repeat(20), deep: [1, { two: null }] },
    step_type: 'tool',
    revision: 12,
    ...more,
  };
}

/** Enough events for a message that a thread reads. */
export const MANY = 40;

/** One message in each form. */
export interface Forms {
  readonly rest?: Uint8Array;
  readonly json?: Uint8Array;
  readonly binary?: Uint8Array;
}

/** A message with events that protobuf can hold. */
export function formsOf(events: readonly JsonObject[]): Forms {
  const plain = { events: [...events] };
  const message = messageMapper(CreateEventsRequestSchema).fromPlain(plain);
  return {
    rest: Buffer.from(stringifyJson(plain)),
    json: Buffer.from(toJsonString(CreateEventsRequestSchema, message as never)),
    binary: toBinary(CreateEventsRequestSchema, message as never),
  };
}

/** The same events in the JSON forms only, after a change that protobuf has no form for. */
export function jsonFormsOf(events: readonly JsonObject[], change: (event: JsonObject) => void): Forms {
  const parsed = JSON.parse(Buffer.from(formsOf(events).json ?? []).toString()) as { events: JsonObject[] };
  const changed = parsed.events.at(-1);
  if (changed !== undefined) change(changed);
  const last = { ...events.at(-1) };
  change(last);
  return {
    rest: Buffer.from(stringifyJson({ events: [...events.slice(0, -1), last] })),
    json: Buffer.from(JSON.stringify(parsed)),
  };
}
