import { directCodec } from '../../wire/direct-codec.js';
import type { MessageForm } from '../../wire/evaluation-codec.js';
import { MessageReader } from '../../wire/message-reader.js';
import { addNotes, type Reply, type ReplyFields } from '../../wire/reply.js';
import { OK_TRAILERS, statusTrailers } from '../../wire/trailers.js';
import { type Framing, PREFIX_LENGTH } from './framing.js';

/** The flag of the envelope that holds the trailers (gRPC-Web, "Message framing"). */
const TRAILER_FLAG = 0x80;

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
    source: (maxBytes) => new MessageReader(maxBytes, TRAILER_FLAG),
    success: (headers, framed, call) => reply(headers, framed, addNotes({ ...OK_TRAILERS }, call)),
    failure: (headers, status, call) => reply(headers, undefined, addNotes(statusTrailers(status), call)),
  };
}

function withTrailers(message: Buffer | undefined, trailers: ReplyFields): Buffer {
  let text = '';
  for (const name in trailers) text += `${name}: ${trailers[name]}\r\n`;
  const before = message?.length ?? 0;
  // Values of trailers are ASCII.
  const body = Buffer.allocUnsafe(before + PREFIX_LENGTH + text.length);
  message?.copy(body);
  body[before] = TRAILER_FLAG;
  body.writeUInt32BE(text.length, before + 1);
  body.write(text, before + PREFIX_LENGTH, 'latin1');
  return body;
}

/** The framings of gRPC-Web by the media types of their requests. */
export function grpcWebFramings(json: MessageForm): Record<string, Framing> {
  const binary = createFraming(directCodec, 'application/grpc-web+proto');
  return {
    'application/grpc-web': binary,
    'application/grpc-web+proto': binary,
    'application/grpc-web+json': createFraming(json, 'application/grpc-web+json'),
  };
}
