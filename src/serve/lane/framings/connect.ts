import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { BodyReader } from '../../wire/body-reader.js';
import { directCodec } from '../../wire/direct-codec.js';
import { PREFIX_LENGTH } from '../../wire/envelope.js';
import type { MessageForm } from '../../wire/evaluation-codec.js';
import { MEDIA_TYPES } from '../../wire/media-types.js';
import { MESSAGE_OPTIONS } from '../../wire/message-parser.js';
import { addNotes, type Reply, type ReplyFields } from '../../wire/reply.js';
import { CHALLENGE_HEADER } from '../../wire/reply-headers.js';
import { connectErrorOf, pushbackOf, type RpcStatus } from '../../wire/rpc-status.js';
import type { Framing } from './framing.js';

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
      headers['content-type'] = MEDIA_TYPES.json;
      // Connect has no trailer for the time after which a retry is useful; HTTP has a header.
      if (pushback !== undefined) headers['retry-after'] = String(Math.ceil(Number(pushback) / 1_000));
      if (status.challenge !== undefined) headers[CHALLENGE_HEADER] = status.challenge;
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
  const text = createFraming(json, MEDIA_TYPES.json);
  return {
    [MEDIA_TYPES.proto]: createFraming(directCodec, MEDIA_TYPES.proto),
    [MEDIA_TYPES.json]: text,
    [MEDIA_TYPES.jsonInUtf8]: text,
    [MEDIA_TYPES.jsonInUtf8Tight]: text,
  };
}
