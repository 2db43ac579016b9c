import type { MessageForm } from '../../wire/evaluation-codec.js';
import type { RpcProtocol } from '../../wire/media-types.js';
import type { MessageSource } from '../../wire/message-reader.js';
import type { Noted, Reply, ReplyFields } from '../../wire/reply.js';
import type { RpcStatus } from '../../wire/rpc-status.js';

/** How unary calls of one protocol and media type are framed: where messages, statuses and notes are in their bytes. */
export interface Framing {
  readonly protocol: RpcProtocol;
  readonly form: MessageForm;
  /** Splits the body of a request, whose messages have at most `maxBytes`. */
  source(maxBytes: number): MessageSource;
  /**
   * The reply with a result. `head` are the headers of every reply, to which it may add; `framed` is the message in its
   * envelope; the call has what else is to be told.
   */
  success(head: ReplyFields, framed: Buffer, call: Noted): Reply;
  /** The reply of a call that failed. */
  failure(head: ReplyFields, status: RpcStatus, call: Noted): Reply;
}
