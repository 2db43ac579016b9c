import { directCodec } from '../../wire/direct-codec.js';
import { OK_TRAILERS, statusTrailers } from '../../wire/encode-status.js';
import { ENVELOPE_FLAGS, textInEnvelope } from '../../wire/envelope.js';
import type { MessageForm } from '../../wire/evaluation-codec.js';
import { MEDIA_TYPES } from '../../wire/media-types.js';
import { MessageReader } from '../../wire/message-reader.js';
import { addNotes, type Reply, type ReplyFields } from '../../wire/reply.js';
import type { Framing } from './framing.js';

/** gRPC-Web: envelopes, of which the last one holds the trailers. Not its base64 text form. */
function createFraming(form: MessageForm, replyType: string): Framing {
  const reply = (headers: ReplyFields, message: Buffer | undefined, trailers: ReplyFields): Reply => {
    const body = withTrailers(message, trailers);
    headers['content-type'] = replyType;
    headers['content-length'] = String(body.length);
    return { status: 200, headers, body };
  };
  return {
    protocol: 'grpc-web',
    form,
    source: (maxBytes) => new MessageReader(maxBytes, ENVELOPE_FLAGS.trailers),
    success: (headers, framed, call) => reply(headers, framed, addNotes({ ...OK_TRAILERS }, call)),
    failure: (headers, status, call) => reply(headers, undefined, addNotes(statusTrailers(status), call)),
  };
}

function withTrailers(message: Buffer | undefined, trailers: ReplyFields): Buffer {
  let text = '';
  for (const name in trailers) text += `${name}: ${trailers[name]}\r\n`;
  const framed = textInEnvelope(ENVELOPE_FLAGS.trailers, text);
  return message === undefined ? framed : Buffer.concat([message, framed]);
}

/** The framings of gRPC-Web by the media types of their requests. */
export function grpcWebFramings(json: MessageForm): Record<string, Framing> {
  const binary = createFraming(directCodec, MEDIA_TYPES.grpcWebProto);
  return {
    [MEDIA_TYPES.grpcWeb]: binary,
    [MEDIA_TYPES.grpcWebProto]: binary,
    [MEDIA_TYPES.grpcWebJson]: createFraming(json, MEDIA_TYPES.grpcWebJson),
  };
}
