import type { HandlerCall } from '../../../../src/contract/call/handler.js';
import type { AdapterName } from '../../../../src/contract/config/adapter-names.js';
import { callerError, ServiceError } from '../../../../src/contract/errors/service-error.js';
import type { RepeatLog } from '../../../../src/contract/runtime/repeat-log.js';
import {
  type EvaluateRequest,
  readEvaluateRequest,
} from '../../../../src/decide/decisions/evaluate-request.js';
import type { LimitedCaller } from '../../../../src/decide/decisions/evaluation-caller.js';
import { isTraceparent, type VerdictOutcome } from '../../../../src/decide/decisions/evaluation-options.js';
import type { EvaluationService } from '../../../../src/decide/decisions/evaluation-service.js';
import type { Stage } from '../../../../src/kernel/core/types.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';
import { DEFAULT_MAPPING, type Mapped, type MappedRequest, mapped, sourceText } from './mapping.js';
import type { Mappings } from './mapping-file.js';
import { given, refusedMember } from './members.js';
import { type AdapterOutcome, notEvaluated, outcomeOfVerdict } from './outcome.js';

/** A step in the form of another protocol. */
export interface ForeignStep {
  readonly stage: Stage;
  readonly type: string;
  /** By the protocol; a mapping may name another source. */
  readonly name: string;
  readonly input: JsonValue;
  /** At the stage post. */
  readonly output?: JsonValue | undefined;
  readonly context?: JsonObject | undefined;
  /** Why the step failed, if it did; at the stage post. */
  readonly error?: string | undefined;
  /** What the protocol has for other values. */
  readonly protocol: { readonly [Name in Exclude<Mapped, 'step'>]?: string | undefined };
  /** The message, for sources that are members. */
  readonly message: JsonObject;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  /** Outcomes that the protocol has a form for, besides allow and deny. */
  readonly accepts: readonly VerdictOutcome[];
  /** The time that the peer waits, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Counts what adapters do. */
export interface AdapterMeter {
  adapted(adapter: AdapterName, outcome: AdapterOutcome['kind'] | 'unchecked' | 'refused'): void;
}

export interface AdapterEvaluationsOptions {
  readonly evaluation: EvaluationService;
  readonly on: readonly AdapterName[];
  readonly failOpen: readonly AdapterName[];
  readonly mappings: Mappings;
  readonly meter: AdapterMeter;
  readonly failures: Pick<RepeatLog, 'told'>;
}

/** The one way from the protocols of adapters to evaluations. */
export interface AdapterEvaluations {
  /** Fails with ADAPTER_OFF unless the adapter is on. */
  demand(adapter: AdapterName): void;
  /**
   * What comes of a step. Rejects, or throws, with the error of a request that is refused, whatever the state of the service:
   * one that names no agent or an unknown one, that the key may not submit, or beyond a limit; and with the reason of the
   * signal of a call that is over.
   */
  submit(adapter: AdapterName, step: ForeignStep, call: HandlerCall): Promise<AdapterOutcome>;
  /** Counts a request that was answered with an error of this HTTP status, or as a denial instead of it. */
  refused(adapter: AdapterName, status: number): void;
}

/** Errors that are due to the state of the service, never to the request: only for these, an adapter may fail open. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'DRAINING', 'DEADLINE_EXCEEDED']);

export function createAdapterEvaluations(options: AdapterEvaluationsOptions): AdapterEvaluations {
  const { evaluation, mappings, meter, failures } = options;
  const on = new Set(options.on);
  const failOpen = new Set(options.failOpen);

  function demand(adapter: AdapterName): void {
    if (on.has(adapter)) return;
    throw callerError('ADAPTER_OFF', {
      detail: `The adapter "${adapter}" is off.`,
      hint: `Add it to SERVICE_ADAPTERS: SERVICE_ADAPTERS=${[...on, adapter].join(',')}`,
      name: adapter,
    });
  }

  return {
    demand,
    refused: (adapter, status) => meter.adapted(adapter, status >= 500 ? 'error' : 'refused'),
    async submit(adapter, step, call) {
      demand(adapter);
      const request = requestOf(step, call, mappings.get(adapter) ?? DEFAULT_MAPPING);
      try {
        const verdict = await evaluation.evaluate(request, 'full', callerOf(adapter, call));
        call.reportRevision(verdict.revision);
        if (verdict.staleness_seconds !== null) call.reportStaleness(verdict.staleness_seconds);
        const outcome = outcomeOfVerdict(verdict, request.step, request.stage);
        meter.adapted(adapter, outcome.kind);
        return outcome;
      } catch (error) {
        if (call.signal.aborted || !(error instanceof ServiceError) || !UNAVAILABLE.has(error.code))
          throw error;
        if (!failOpen.has(adapter)) {
          meter.adapted(adapter, 'error');
          return { kind: 'error', error, message: notEvaluated(request.step, request.stage) };
        }
        meter.adapted(adapter, 'unchecked');
        failures.told('warn', `fails open ${adapter}`, FAILS_OPEN, {
          adapter,
          agent: request.agentName,
          step: request.step.name,
          because: error.options.detail,
        });
        return { kind: 'allow', verdict: null, unchecked: true };
      }
    },
  };
}

const FAILS_OPEN =
  'a step that could not be evaluated was allowed, because SERVICE_ADAPTERS_FAIL_OPEN names its adapter';

/** The evaluation of a step. Throws a VALIDATION_ERROR that names what is missing or invalid, and where it is expected. */
function requestOf(step: ForeignStep, call: HandlerCall, mapping: typeof DEFAULT_MAPPING): EvaluateRequest {
  const from: MappedRequest = {
    header: (name) => call.header(name),
    query: step.query ?? {},
    message: step.message,
    protocol: { ...step.protocol, step: step.name },
    agentOfKey: onlyAgentOf(call),
  };
  const value = (name: Mapped) => mapped(mapping[name], from, name);
  /** Throws if the request says two things, unless a mapping says which of them counts. */
  function refuseConflict(name: 'agent' | 'session', where: string, header?: string, other?: string): void {
    if (mapping[name] !== DEFAULT_MAPPING[name] || !header || !other || header === other) return;
    throw refusedMember(name, `differs between a header and ${where}: send one of them`);
  }
  const needed = (name: 'agent' | 'step'): string => {
    const found = value(name);
    if (found !== undefined) return found;
    const offered = mapping[name].filter(({ kind }) => kind !== 'query' || step.query !== undefined);
    const sources = offered.map(sourceText).join(', or ');
    throw refusedMember(name, `the request names no ${name}; it is taken from ${sources}`, 'missing');
  };
  refuseConflict('agent', 'the query parameter agent', call.header('x-agent-name'), step.query?.agent);
  refuseConflict('session', 'the message', call.header('x-session-id'), step.protocol.session);
  const agent = needed('agent');
  const parent = value('traceparent');
  return readEvaluateRequest({
    agent_name: agent,
    stage: step.stage,
    step: {
      type: step.type,
      name: needed('step'),
      input: step.input,
      output: step.output ?? null,
      context: step.context ?? null,
    },
    ...given({
      session_id: value('session'),
      step_id: value('step_id'),
      // One that cannot be read is ignored, as W3C Trace Context says.
      traceparent: parent !== undefined && isTraceparent(parent) ? parent : undefined,
      target_type: value('target_type'),
      target_id: value('target_id'),
      step_error: step.error,
      timeout: step.timeoutMs === undefined ? undefined : `${step.timeoutMs / 1000}s`,
    }),
    accepts: ['allow', 'deny', ...step.accepts],
  });
}

/** The agent of a key that is limited to exactly one. */
function onlyAgentOf({ principal: { agents } }: HandlerCall): string | undefined {
  const [only, ...others] = agents?.patterns ?? [];
  return others.length === 0 && only?.includes('*') === false ? only : undefined;
}

/** The caller as evaluations see it, with the adapter as its point. */
function callerOf(
  adapter: AdapterName,
  call: HandlerCall,
): LimitedCaller & { readonly adapter: AdapterName } {
  const { principal } = call;
  return {
    adapter,
    protocol: call.protocol,
    namespace: principal.namespace,
    principal,
    address: call.address,
    requestId: call.requestId,
    agents: principal.agents,
    target: principal.target,
    get signal() {
      return call.signal;
    },
    header: (name) => call.header(name),
    spend: (evaluations) => call.spend(evaluations),
    askTarget: (target) => principal.grant?.askTarget?.(target),
  };
}
