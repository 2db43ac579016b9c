import { Code, ConnectError } from '@connectrpc/connect';
import { JsonSyntaxError } from '../../json/json-errors.js';
import { parseStoredJson } from '../../json/parse-json.js';
import type { JsonCopy } from './json-copy.js';

/** How Connect begins the messages of what it calls an internal error, though the caller did it. */
const DECODE_ERROR = 'parse binary: ';
const COMPRESSION_ERROR = 'received compressed envelope';

const JSON_ERROR = /^cannot decode message \S+ from JSON: /;

/** The bytes of a message are none; `reason` in the words of protobuf-es. */
export function undecodableMessage(reason: string): ConnectError {
  return new ConnectError(`the request message cannot be decoded: ${reason}`, Code.InvalidArgument);
}

/** A message is marked as compressed, but the call has no encoding. */
export function unexpectedCompression(): ConnectError {
  const text = 'a request message is marked as compressed, but the call states no encoding';
  return new ConnectError(text, Code.InvalidArgument);
}

/** A decode error, corrected; any other one as it is. For streams, which meet it while they read. */
export function correctedDecodeError(error: ConnectError): ConnectError {
  return correctedStatus(error.code, error.rawMessage) ?? error;
}

/**
 * What Connect calls an internal error of ours, as the error of the caller that it is; also a request that is no JSON,
 * with its place instead of a piece of it. Undefined for anything else.
 */
export function correctedStatus(
  code: Code,
  message: string,
  json: JsonCopy | null = null,
): ConnectError | undefined {
  if (code === Code.InvalidArgument && json !== null && JSON_ERROR.test(message)) return syntaxError(json);
  if (code !== Code.Internal) return undefined;
  if (message.startsWith(DECODE_ERROR)) return undecodableMessage(message.slice(DECODE_ERROR.length));
  return message.startsWith(COMPRESSION_ERROR) ? unexpectedCompression() : undefined;
}

function syntaxError(json: JsonCopy): ConnectError | undefined {
  try {
    parseStoredJson(json.text());
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) return undefined;
    return new ConnectError(`the request message is ${error.message}`, Code.InvalidArgument);
  }
}
