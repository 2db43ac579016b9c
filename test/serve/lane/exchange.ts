import http2 from 'node:http2';
import { createRegistry, type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { file_google_rpc_error_details } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';

/**
 * What a client does, one after the other: sends bytes, half-closes, waits for headers or a reply, changes its settings,
 * or resets the stream.
 */
export type Action =
  | Buffer
  | 'end'
  | 'headers'
  | 'reply'
  | { readonly resetWith: number }
  | { readonly settings: http2.Settings };

export interface Exchange {
  readonly path: string;
  readonly output: DescMessage;
  readonly headers: http2.OutgoingHttpHeaders;
  readonly actions: readonly Action[];
  /** Metadata behind the body. */
  readonly requestTrailers?: http2.OutgoingHttpHeaders;
  /** Settings of the client. */
  readonly settings?: http2.Settings;
}

/** Everything a client gets to see. */
export interface Observed {
  readonly headers: Record<string, unknown> | null;
  readonly messages: readonly unknown[];
  readonly trailers: Record<string, unknown> | null;
  readonly ended: boolean;
  readonly rstCode: number;
}

const DETAILS = createRegistry(file_google_rpc_error_details);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Plays an exchange on a connection of its own, to the close of the stream. */
export async function play(url: string, exchange: Exchange): Promise<Observed> {
  const session = http2.connect(url, { settings: { maxHeaderListSize: 65_536, ...exchange.settings } });
  session.on('error', () => {});
  try {
    return await playOn(session, exchange);
  } finally {
    session.destroy();
  }
}

async function playOn(session: http2.ClientHttp2Session, exchange: Exchange): Promise<Observed> {
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const { requestTrailers } = exchange;
  const stream = session.request(
    { ':method': 'POST', ':path': exchange.path, te: 'trailers', ...exchange.headers },
    { waitForTrailers: requestTrailers !== undefined },
  );
  let headers: Observed['headers'] = null;
  let trailers: Observed['trailers'] = null;
  let ended = false;
  let received = Buffer.alloc(0);
  stream.on('response', (found) => {
    headers = comparableHeaders(found);
  });
  stream.on('trailers', (found) => {
    trailers = comparableHeaders(found);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(requestTrailers ?? {}));
  stream.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
  });
  stream.on('end', () => {
    ended = true;
  });
  stream.on('error', () => {});
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  for (const action of exchange.actions) {
    if (stream.destroyed) break;
    if (stream.writableEnded && (action === 'end' || Buffer.isBuffer(action))) break;
    if (action === 'end') stream.end();
    else if (action === 'headers') {
      if (headers === null)
        await Promise.race([new Promise((next) => stream.once('response', next)), closed]);
    } else if (action === 'reply')
      await Promise.race([new Promise((next) => stream.once('data', next)), closed]);
    else if (Buffer.isBuffer(action)) await new Promise((sent) => stream.write(action, () => sent(null)));
    else if ('settings' in action)
      await new Promise((changed) => session.settings(action.settings, () => changed(null)));
    else stream.close(action.resetWith);
  }
  await closed;
  return {
    headers,
    messages: messagesOf(received, exchange.output),
    trailers,
    ended,
    rstCode: stream.rstCode,
  };
}

function comparableHeaders(headers: http2.IncomingHttpHeaders): Record<string, unknown> {
  const { date, ...rest } = headers;
  const shown: Record<string, unknown> = { ...rest, date: typeof date };
  const id = shown['x-request-id'];
  if (typeof id === 'string' && UUID.test(id)) shown['x-request-id'] = 'an id';
  const details = shown['grpc-status-details-bin'];
  if (typeof details === 'string') shown['grpc-status-details-bin'] = statusOf(details);
  return shown;
}

function statusOf(base64: string): unknown {
  const { code, message, details } = fromBinary(StatusSchema, Buffer.from(base64, 'base64'));
  return { code, message, details: details.map((one) => anyUnpack(one, DETAILS)) };
}

/** The messages of a reply body; whatever is no message at its end as bytes. */
function messagesOf(body: Buffer, output: DescMessage): unknown[] {
  const messages: unknown[] = [];
  let at = 0;
  while (body.length - at >= 5) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const json = toJson(output, fromBinary(output, body.subarray(at + 5, end)), { registry: DETAILS });
    messages.push({ flags: body[at], message: withoutIds(json) });
    at = end;
  }
  if (at < body.length) messages.push(body.subarray(at).toString('latin1'));
  return messages;
}

function withoutIds(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    (key === 'controlExecutionId' || key === 'decisionId') && UUID.test(String(value)) ? 'an id' : value,
  );
}

/** A message as it goes over the wire. */
export function framed(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
