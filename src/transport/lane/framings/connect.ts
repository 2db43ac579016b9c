import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { BodyReader } from '../../wire/body-reader.js';
import { directCodec } from '../../wire/direct-codec.js';
import type { MessageForm } from '../../wire/evaluation-codec.js';
import { MESSAGE_OPTIONS } from '../../wire/message-options.js';
import { addNotes, type Reply, type ReplyFields } from '../../wire/reply.js';
import { connectErrorOf, pushbackOf, type RpcStatus } from '../../wire/rpc-status.js';
import { type Framing, PREFIX_LENGTH } from './framing.js';

const JSON_TYPE = 'application/json';
/** Headers that stand for trailers (Connect protocol, "Unary response"). */
const TRAILER_PREFIX = 'trailer-';

/** Unary calls of Connect: bodies without envelopes, statuses as those of HTTP, and errors as JSON. */
function createFraming(form: MessageForm, replyType: string): Framing {
  return {
    protocol: 'connect',
    form,
    source: (maxBytes) => new BodyReader(maxBytes),
    success(headers, framed, call) {
      headers['content-type'] = replyType;
      return whole(200, addNotes(headers, call, TRAILER_PREFIX), framed.subarray(PREFIX_LENGTH));
    },
    failure(headers, status, call) {
      const pushback = pushbackOf(status);
      headers['content-type'] = JSON_TYPE;
      // Connect has no trailer for the time after which a retry is useful; HTTP has a header.
      if (pushback !== undefined) headers['retry-after'] = String(Math.ceil(Number(pushback) / 1_000));
      const body = errorBody(status);
      return whole(codeToHttpStatus(status.code), addNotes(headers, call, TRAILER_PREFIX), body);
    },
  };
}

function errorBody(status: RpcStatus): Buffer {
  return Buffer.from(errorToJsonBytes(connectErrorOf(status), MESSAGE_OPTIONS.jsonOptions));
}

function whole(status: number, headers: ReplyFields, body: Buffer): Reply {
  headers['content-length'] = String(body.length);
  return { status, headers, body };
}

/** The framings of unary calls of Connect by the media types of their requests. */
export function connectFramings(json: MessageForm): Record<string, Framing> {
  const text = createFraming(json, JSON_TYPE);
  return {
    'application/proto': createFraming(directCodec, 'application/proto'),
    [JSON_TYPE]: text,
    'application/json; charset=utf-8': text,
    'application/json;charset=utf-8': text,
  };
}
