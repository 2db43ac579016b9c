import type { AgentLimit } from '../../contract/call/agent-limit.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { Namespace, TargetName } from '../../contract/call/namespace.js';

/** Caller of an evaluation. */
export interface EvaluationCaller {
  readonly protocol: string;
  /** The adapter that made the evaluation of another protocol's request, such as `coding-hooks`; absent without one. */
  readonly adapter?: string | undefined;
  /** The namespace of its agents. */
  readonly namespace: Namespace;
  /** Returns a header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
  /**
   * Aborted when the answer is no longer awaited: the caller disconnected, its deadline passed, or the server
   * shuts down. Read only by code that waits: reading it may start the time limit of the call. Takes any number of
   * listeners: all evaluations of a call share it.
   */
  readonly signal: AbortSignal;
  /** Counts evaluations beyond the first of a call. Fails with RATE_LIMITED above the caller's limit. */
  spend(evaluations: number): void;
}

/** A caller who is known: audit entries name it. */
export interface KnownCaller
  extends EvaluationCaller,
    Pick<CallContext, 'principal' | 'address' | 'requestId'> {}

/** A caller before its rights are checked. */
export interface LimitedCaller extends KnownCaller {
  /** The agents whose steps it may evaluate; null for all. */
  readonly agents: AgentLimit | null;
  /** The only target that it may evaluate for; null for any, and none. */
  readonly target: TargetName | null;
  /** Asks the service that decides about its targets; see `Grant`. Absent, and undefined, if there is nothing to ask. */
  askTarget?(target: TargetName): Promise<void> | undefined;
}
