import type { RpcCaller } from '../call/call-host.js';
import type { StreamFields, StreamReply } from '../wire/evaluation-codec.js';
import type { EvaluationCalls } from './evaluation-calls.js';
import { MessageCaller } from './message-caller.js';

/**
 * The messages of one stream of evaluations. Those that are pending can be canceled by their id. A message that is
 * answered at once, which is the usual case, costs nothing for this.
 */
export class StreamMessages {
  readonly #calls: Pick<EvaluationCalls, 'message'>;
  readonly #call: RpcCaller;
  /** For the next message; used again unless a message keeps it. */
  #caller: MessageCaller;
  #pending: Map<string, Set<MessageCaller>> | null = null;

  constructor(calls: Pick<EvaluationCalls, 'message'>, call: RpcCaller) {
    this.#calls = calls;
    this.#call = call;
    this.#caller = new MessageCaller(call);
  }

  /** The reply to a message; null if it has none. Rejects only with the reason of the signal of the call. */
  answer(message: StreamFields): StreamReply | Promise<StreamReply> | null {
    if (message.cancel && message.evaluations.length === 0) {
      for (const pending of this.#pending?.get(message.id) ?? []) pending.cancel();
      return null;
    }
    const caller = this.#caller;
    const reply = this.#calls.message(message, caller);
    if (!(reply instanceof Promise)) {
      if (caller.isClaimed) this.#replace(caller);
      return reply;
    }
    this.#caller = new MessageCaller(this.#call);
    return this.#wait(message, caller, reply);
  }

  #replace(caller: MessageCaller): void {
    caller.end();
    this.#caller = new MessageCaller(this.#call);
  }

  async #wait(
    { id, evaluations }: StreamFields,
    caller: MessageCaller,
    reply: Promise<StreamReply>,
  ): Promise<StreamReply> {
    this.#pending ??= new Map();
    const pending = this.#pending.get(id) ?? new Set();
    this.#pending.set(id, pending.add(caller));
    try {
      return await reply;
    } catch (error) {
      // A long message that was canceled before all of it was begun.
      if (!caller.isCanceled) throw error;
      return { id, outcomes: evaluations.map(() => caller.itemFailed(error)) };
    } finally {
      caller.end();
      pending.delete(caller);
      if (pending.size === 0 && this.#pending.get(id) === pending) this.#pending.delete(id);
    }
  }
}
