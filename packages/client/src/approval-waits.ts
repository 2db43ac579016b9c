import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Approval as ApprovalMessage } from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import { type Approval, approvalAfter } from './approvals.js';
import { askedPauseMs, mayContinue } from './failures.js';
import { pauseMs, resting } from './pause.js';
import { onAbort } from './pending.js';
import type { Services } from './services.js';
import { SILENCE_MS, WatchAttempt } from './watch-attempt.js';

/** Limit of the service for the approvals of one stream. */
const MAX_WATCHED = 1_000;
/** Pause before the service is asked again about an approval that has expired by the clock of this process only. */
const EXPIRY_CHECK_MS = 2_000;
/** Longest time of a single call. */
const CALL_MS = 10_000;
/** Limit of timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits for decisions about approvals. */
export interface ApprovalWaits {
  /**
   * The approval once it is not pending any more; undefined at the deadline, in milliseconds of `performance.now()`. Rejects with
   * the reason of the signal, after which the approval is cancelled unless others wait for it, with a ConnectError if the service
   * refuses to tell, and when the client is closed.
   */
  end(
    agent: string,
    approval: Approval,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Approval | undefined>;
  /** Ends an approval that is not needed. Does not wait, and does not fail. */
  cancel(agent: string, approval: Approval): void;
}

/** A call that waits. */
interface Waiting {
  told(approval: ApprovalMessage): void;
  refused(error: ConnectError): void;
}

/** Waits for approvals with one stream for each agent. `closing` is aborted when the client is closed. */
export function createApprovalWaits(rpc: Services['approvals'], closing: AbortSignal): ApprovalWaits {
  const watches = new Map<string, ApprovalWatch[]>();

  function watchFor(agent: string, id: number): ApprovalWatch {
    const known = watches.get(agent) ?? [];
    const found = known.find((one) => one.has(id)) ?? known.find((one) => one.size < MAX_WATCHED);
    if (found !== undefined) return found;
    const watch = new ApprovalWatch(rpc, agent, closing, () => {
      const left = (watches.get(agent) ?? []).filter((one) => one !== watch);
      if (left.length === 0) watches.delete(agent);
      else watches.set(agent, left);
    });
    watches.set(agent, [...known, watch]);
    return watch;
  }

  /** The state of an approval now; undefined if the service does not answer. */
  const ask = async (agentName: string, approvalId: number): Promise<ApprovalMessage | undefined> => {
    const request = { agentName, approvalId, wait: durationFromMs(0) };
    const reply = await rpc.awaitApproval(request, { timeoutMs: CALL_MS, signal: closing }).catch(() => {});
    return reply?.approval;
  };

  function cancel(agentName: string, { id: approvalId }: Approval): void {
    const reason = 'the call that waited for it was aborted';
    rpc.cancelApproval({ agentName, approvalId, reason }, { timeoutMs: CALL_MS }).catch(() => {});
  }

  return {
    cancel,
    end(agent, approval, deadline, signal) {
      closing.throwIfAborted();
      signal?.throwIfAborted();
      return new Promise((resolve, reject) => {
        const watch = watchFor(agent, approval.id);
        const timers = new Set<ReturnType<typeof setTimeout>>();
        const after = (ms: number, act: () => void): void => {
          const timer = setTimeout(act, Math.min(Math.max(0, ms), MAX_TIMER_MS));
          timers.add(timer);
        };
        const stops: (() => void)[] = [];
        let hasEnded = false;
        const end = (act: () => void): void => {
          if (hasEnded) return;
          hasEnded = true;
          for (const timer of timers) clearTimeout(timer);
          for (const stop of stops) stop();
          watch.remove(approval.id, waiting);
          act();
        };
        const waiting: Waiting = {
          told(message) {
            const now = approvalAfter(approval, message);
            if (now.state !== 'pending') end(() => resolve(now));
          },
          refused: (error) => end(() => reject(error)),
        };
        /** The clock of the service counts; without an answer, the one of this client. */
        const expired = async (): Promise<void> => {
          const message = await ask(agent, approval.id);
          if (hasEnded) return;
          if (message === undefined) end(() => resolve({ ...approval, state: 'expired' }));
          else waiting.told(message);
          if (!hasEnded) after(EXPIRY_CHECK_MS, () => void expired());
        };
        after(approval.expiresAt.getTime() - Date.now(), () => void expired());
        if (deadline !== Number.POSITIVE_INFINITY)
          after(deadline - performance.now(), () => end(() => resolve(undefined)));
        stops.push(onAbort(closing, () => end(() => reject(closing.reason))));
        if (signal !== undefined)
          stops.push(
            onAbort(signal, () =>
              end(() => {
                if (!watch.has(approval.id)) cancel(agent, approval);
                reject(signal.reason);
              }),
            ),
          );
        watch.add(approval.id, waiting);
      });
    },
  };
}

/** A stream, and what it has been asked for. */
interface Stream {
  /** Without those that no call waits for any more: their news have passed. */
  readonly ids: Set<number>;
  readonly attempt: WatchAttempt;
  isReplaced: boolean;
}

/**
 * Watches the approvals that calls wait for. For a further one it opens another stream with all of them, which then replaces the
 * one before; those that come meanwhile are in the next one.
 */
class ApprovalWatch {
  readonly #rpc: Services['approvals'];
  readonly #agentName: string;
  readonly #closing: AbortSignal;
  readonly #onIdle: () => void;
  readonly #waiting = new Map<number, Set<Waiting>>();
  #current: Stream | undefined;
  #opening: Stream | undefined;
  #failures = 0;

  constructor(rpc: Services['approvals'], agentName: string, closing: AbortSignal, onIdle: () => void) {
    this.#rpc = rpc;
    this.#agentName = agentName;
    this.#closing = closing;
    this.#onIdle = onIdle;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(id: number): boolean {
    return this.#waiting.has(id);
  }

  add(id: number, waiting: Waiting): void {
    const known = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, known.add(waiting));
    this.#open();
  }

  remove(id: number, waiting: Waiting): void {
    const known = this.#waiting.get(id);
    known?.delete(waiting);
    if (known?.size === 0) this.#waiting.delete(id);
    for (const stream of [this.#current, this.#opening]) {
      if (stream === undefined) continue;
      if (!this.has(id)) stream.ids.delete(id);
      if (this.size === 0) replace(stream);
    }
    if (this.size > 0) return;
    this.#onIdle();
  }

  /** Opens a stream if one is needed, one at a time. */
  #open(): void {
    if (this.#opening !== undefined || this.#closing.aborted) return;
    const isWatched = (id: number): boolean => this.#current?.ids.has(id) === true;
    const ids = new Set(this.#waiting.keys());
    if ([...ids].every(isWatched)) return;
    const attempt = new WatchAttempt(this.#closing, SILENCE_MS, undefined);
    this.#opening = { ids, attempt, isReplaced: false };
    void this.#follow(this.#opening);
  }

  async #follow(stream: Stream): Promise<void> {
    const { ids, attempt } = stream;
    let error = new ConnectError('the service ended the stream', Code.Unavailable);
    try {
      const request = { agentName: this.#agentName, approvalIds: [...ids] };
      for await (const { news } of this.#rpc.watchApprovals(request, { signal: attempt.signal })) {
        attempt.heard();
        if (news.case === 'approval') this.#told(news.value);
        if (news.case === 'heartbeat') this.#complete(stream);
      }
    } catch (reason) {
      error = ConnectError.from(reason);
    } finally {
      attempt.end();
    }
    if (this.#current === stream) this.#current = undefined;
    if (this.#opening === stream) this.#opening = undefined;
    if (stream.isReplaced || this.#closing.aborted) return;
    if (!attempt.wasSilent && !mayContinue(error)) {
      for (const one of this.#all()) one.refused(error);
      return;
    }
    await resting(pauseMs(this.#failures++, askedPauseMs(error)), this.#closing);
    this.#open();
  }

  /** A stream has told everything that it was asked for: it replaces the one before. */
  #complete(stream: Stream): void {
    if (this.#opening !== stream) return;
    const before = this.#current;
    this.#current = stream;
    this.#opening = undefined;
    this.#failures = 0;
    if (before !== undefined) replace(before);
    this.#open();
  }

  #told(approval: ApprovalMessage): void {
    for (const one of [...(this.#waiting.get(approval.id) ?? [])]) one.told(approval);
  }

  #all(): Waiting[] {
    return [...this.#waiting.values()].flatMap((some) => [...some]);
  }
}

function replace(stream: Stream): void {
  stream.isReplaced = true;
  stream.attempt.end();
}
