/** Every media type that the protocols name in requests and replies. */
export const MEDIA_TYPES = {
  json: 'application/json',
  /** JSON with its only encoding stated, as replies of JSON routes have it. */
  jsonInUtf8: 'application/json; charset=utf-8',
  jsonInUtf8Tight: 'application/json;charset=utf-8',
  /** One JSON document per line. */
  lines: 'application/x-ndjson',
  proto: 'application/proto',
  grpc: 'application/grpc',
  grpcProto: 'application/grpc+proto',
  grpcWeb: 'application/grpc-web',
  grpcWebProto: 'application/grpc-web+proto',
  grpcWebJson: 'application/grpc-web+json',
  grpcWebText: 'application/grpc-web-text',
} as const;

/** The protocols of RPCs. */
export type RpcProtocol = 'grpc' | 'grpc-web' | 'connect';

/** What the content type of a request or a reply says. */
export interface MediaType {
  /** Connect for every type that is not one of gRPC. */
  readonly protocol: RpcProtocol;
  /** Whether the body is a sequence of messages in envelopes; its end may be far off. */
  readonly isStream: boolean;
  /** Whether the body is one message of Connect, without an envelope. */
  readonly isWhole: boolean;
  /** Whether messages are JSON; also for JSON that names what it describes, such as `application/merge-patch+json`. */
  readonly isJson: boolean;
  /** Whether it is JSON as such, with no parameter but its encoding. */
  readonly isPlainJson: boolean;
  /** Whether the body is text with base64, a form of gRPC-Web. */
  readonly isBase64: boolean;
}

const JSON_OF_ANY_NAME = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;
const PLAIN_JSON = /^application\/json(?:; ?charset=utf-8)?$/i;
const WHOLE_MESSAGE = /^application\/(?:json|proto)\s*(?:;|$)/i;
const CONNECT_STREAM = 'application/connect+';

const known = new Map<string | undefined, MediaType>(
  [undefined, ...Object.values(MEDIA_TYPES)].map((name) => [name, parse(name ?? '')]),
);

/** The media type of a `content-type` header. Other types than those above are parsed again each time. */
export function mediaTypeOf(contentType: string | undefined): MediaType {
  return known.get(contentType) ?? parse(contentType ?? '');
}

/** Names of JSON are read in upper and lower case; what tells the protocols apart only in lower case, as it is sent. */
function parse(text: string): MediaType {
  const protocol = protocolOf(text);
  return {
    protocol,
    isStream: protocol !== 'connect' || text.startsWith(CONNECT_STREAM),
    isWhole: WHOLE_MESSAGE.test(text),
    isJson: JSON_OF_ANY_NAME.test(text),
    isPlainJson: PLAIN_JSON.test(text),
    isBase64: text.startsWith(MEDIA_TYPES.grpcWebText),
  };
}

function protocolOf(text: string): RpcProtocol {
  if (text.startsWith(MEDIA_TYPES.grpcWeb)) return 'grpc-web';
  return text.startsWith(MEDIA_TYPES.grpc) ? 'grpc' : 'connect';
}
