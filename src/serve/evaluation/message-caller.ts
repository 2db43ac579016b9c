import { setMaxListeners } from 'node:events';
import { Code, ConnectError } from '@connectrpc/connect';
import type { AgentLimit } from '../../contract/call/agent-limit.js';
import type { Principal } from '../../contract/call/handler.js';
import type { Namespace, TargetName } from '../../contract/call/namespace.js';
import { orAborted } from '../../contract/call/or-aborted.js';
import type { RpcCaller } from '../call/call-host.js';
import type { RpcStatus } from '../wire/rpc-status.js';

/** The caller of the evaluations of one message of a stream: its call, and the cancellation of the message. */
export class MessageCaller implements RpcCaller {
  readonly #call: RpcCaller;
  #abort: AbortController | null = null;
  #stopFollowing: (() => void) | null = null;

  constructor(call: RpcCaller) {
    this.#call = call;
  }

  /** Whether something waits by its signal, so that it must not be used for another message. */
  get isClaimed(): boolean {
    return this.#abort !== null;
  }

  get isCanceled(): boolean {
    return this.#abort?.signal.aborted === true && !this.#call.signal.aborted;
  }

  get protocol(): string {
    return this.#call.protocol;
  }

  get adapter(): string | undefined {
    return this.#call.adapter;
  }

  get principal(): Principal {
    return this.#call.principal;
  }

  get address(): string | null {
    return this.#call.address;
  }

  get requestId(): string {
    return this.#call.requestId;
  }

  get agents(): AgentLimit | null {
    return this.#call.agents;
  }

  get namespace(): Namespace {
    return this.#call.namespace;
  }

  get target(): TargetName | null {
    return this.#call.target;
  }

  askTarget(target: TargetName): Promise<void> | undefined {
    return this.#call.askTarget?.(target);
  }

  header(name: string): string | undefined {
    return this.#call.header(name);
  }

  spend(evaluations: number): void {
    this.#call.spend(evaluations);
  }

  itemFailed(error: unknown): RpcStatus {
    return this.#call.itemFailed(error);
  }

  /** Aborted with that of the call, or when the message is canceled. */
  get signal(): AbortSignal {
    return this.#aborter().signal;
  }

  /** The promise of an evaluation; rejects as soon as the message is canceled. */
  awaited<T>(work: Promise<T>): Promise<T> {
    return orAborted(work, this.signal);
  }

  cancel(): void {
    this.#aborter().abort(new ConnectError('the evaluation was canceled by its client', Code.Canceled));
  }

  /** Must be called when the message is answered. */
  end(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = null;
  }

  #aborter(): AbortController {
    if (this.#abort !== null) return this.#abort;
    const abort = new AbortController();
    const whole = this.#call.signal;
    const follow = (): void => abort.abort(whole.reason);
    // All evaluations of a message wait by it.
    setMaxListeners(0, abort.signal);
    if (whole.aborted) follow();
    else whole.addEventListener('abort', follow, { once: true });
    this.#stopFollowing = () => whole.removeEventListener('abort', follow);
    this.#abort = abort;
    return abort;
  }
}
