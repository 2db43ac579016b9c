import { randomUUID } from 'node:crypto';
import {
  type Approval,
  ApprovalRequiredError,
  type Client,
  ConnectError,
  type Evaluation,
  guardTool,
  NotEvaluatedError,
  SteerError,
  StepDataError,
  StepError,
} from '../../client/src/index.js';
import type { Caller } from './caller.js';
import type { CheckedStages } from './config.js';
import type { Log } from './errors.js';
import { runExactly } from './exact-step.js';
import type { GatewayMetrics, StepResult } from './metrics.js';

/** How the service is told of a request. Types of steps that are no tools have the prefix `mcp_`. */
export const STEP_TYPES = {
  tools: 'tool',
  resources: 'mcp_resource',
  prompts: 'mcp_prompt',
  completions: 'mcp_completion',
  lists: 'mcp_list',
  /** Progress and log messages. */
  messages: 'mcp_message',
  /** What a client answers to what a server asks it for in the course of a call. */
  answers: 'mcp_answer',
} as const;
export type StepType = (typeof STEP_TYPES)[keyof typeof STEP_TYPES];

/** A request that is to be decided. */
export interface Question {
  readonly caller: Caller;
  /** Name of the upstream, which controls see as `context.mcp.upstream`; undefined if it is about several. */
  readonly upstream: string | undefined;
  readonly type: StepType;
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly stages: CheckedStages;
  /** By default the request is a step of its own. */
  readonly stepId?: string;
  readonly signal: AbortSignal;
  /** How long it waits for an approval, in milliseconds; 0, the default, to be told of it at once. */
  readonly waitMs?: number;
  /** Is told of an approval for which the request begins to wait. */
  readonly onWait?: (approval: Approval) => void;
}

/** What came of it. */
export type Outcome<R> =
  | { readonly kind: 'done'; readonly result: R }
  /** The text is for a model; it says nothing about how controls decide. */
  | { readonly kind: 'refused'; readonly text: string; readonly controls: readonly string[] }
  | { readonly kind: 'ask'; readonly approval: Approval; readonly text: string };

/** Decides about requests before and after they run. */
export interface Checks {
  /** Runs a request if it may run, with the input that it may have. Throws what `run` throws, unless that is withheld. */
  decide<R extends object>(
    question: Question,
    run: (input: Record<string, unknown>) => Promise<R>,
  ): Promise<Outcome<R>>;
  newStepId(): string;
}

interface CheckOptions {
  readonly client: Pick<Client, 'evaluate'>;
  readonly onUnavailable: 'deny' | 'allow';
  readonly timeoutMs: number;
  readonly log: Log;
  readonly metrics: Pick<GatewayMetrics, 'step'>;
}

/** What evaluations of one step have come to. */
interface Course {
  /** Its end is not decided. */
  isUndecided: boolean;
  passed: 'allowed' | 'modified' | 'unchecked';
}

const STAGES = { both: ['pre', 'post'], pre: ['pre'], post: ['post'] } as const;

export function createChecks({ client, onUnavailable, timeoutMs, log, metrics }: CheckOptions): Checks {
  /** Told once for an outage, which may be of many calls. */
  let isAway = false;

  async function evaluate(
    course: Course,
    ...[request, options]: Parameters<Client['evaluate']>
  ): Promise<Evaluation> {
    const isEnd = request.stage === 'post';
    const evaluation = await client.evaluate(request, options).catch((error) => {
      if (isEnd) course.isUndecided = true;
      throw error;
    });
    if (isEnd && !evaluation.evaluated && !evaluation.isSafe) course.isUndecided = true;
    if (isAway === evaluation.evaluated) {
      isAway = !isAway;
      if (evaluation.evaluated) log('info', 'the service decides again');
      else log('warn', `the service does not decide: ${evaluation.reason}`);
    }
    if (evaluation.evaluated && evaluation.outcome === 'modify') course.passed = 'modified';
    if (!evaluation.evaluated && evaluation.isSafe) {
      const { agent, stage, step } = request;
      course.passed = 'unchecked';
      log('warn', 'a call passes unchecked, because the service does not answer', {
        agent,
        stage,
        step: step.name,
        cause: evaluation.reason,
      });
    }
    return evaluation;
  }

  async function decide<R extends object>(
    question: Question,
    run: (input: Record<string, unknown>) => Promise<R>,
  ): Promise<[StepResult, Outcome<R>]> {
    const { caller, upstream, type, name, input, stages, signal, waitMs = 0, onWait } = question;
    const { stepId = randomUUID() } = question;
    if (stages === 'none') return ['unchecked', { kind: 'done', result: await run(input) }];
    const { agent, sessionId, traceparent, client: named, principal } = caller;
    const mcp = {
      ...(upstream === undefined ? {} : { upstream }),
      ...(named === undefined ? {} : { client: named }),
      ...(principal === '' ? {} : { principal: principal.slice(principal.indexOf(':') + 1) }),
    };
    const options = {
      step: name,
      type,
      stages: STAGES[stages],
      context: { mcp },
      stepId: () => stepId,
      signal,
      traceparent,
      onUnavailable,
      timeoutMs,
      onUnchecked: () => {},
      ...(waitMs === 0
        ? {}
        : {
            maxWaitMs: waitMs,
            onAsk: (approval: Approval) => {
              onWait?.(approval);
              return 'wait' as const;
            },
          }),
    };
    const course: Course = { isUndecided: false, passed: 'allowed' };
    const evaluateOne: Client['evaluate'] = (...given) => evaluate(course, ...given);
    const guarded = (
      given: Question['input'],
      runOnce: (input: Question['input']) => Promise<R>,
    ): Promise<Awaited<R>> =>
      sessionId === undefined
        ? guardTool(evaluateOne, runOnce, { ...options, agent })(given)
        : guardTool(evaluateOne, runOnce, options, { agent, sessionId, waitForLimits: undefined })(given);
    try {
      const result = await runExactly<R>(input, run, guarded);
      return [course.passed, { kind: 'done', result }];
    } catch (error) {
      const refused = (text: string, controls: readonly string[] = []): Outcome<R> => ({
        kind: 'refused',
        text,
        controls,
      });
      if (error instanceof ApprovalRequiredError)
        return ['asked', { kind: 'ask', approval: error.approval, text: error.message }];
      if (error instanceof NotEvaluatedError) return ['unavailable', refused(error.message)];
      if (error instanceof StepError)
        return [error instanceof SteerError ? 'steered' : 'denied', refused(error.message, error.controls)];
      if (error instanceof StepDataError) return ['error', refused(uncheckable(error))];
      // In a session the error of a tool is thrown though it was not decided: here its texts are withheld as results are.
      if (course.isUndecided && stages !== 'pre' && !(error instanceof ConnectError) && !signal.aborted) {
        const text = `Step "${name}" failed. Why could not be checked, so it is withheld. Try again later.`;
        return ['unavailable', refused(text)];
      }
      if (!(error instanceof ConnectError)) throw error;
      // The service refuses the question itself, for example because it does not know the agent or the key.
      log('error', `the service refuses to decide about ${name} of the agent ${agent}: ${error.message}`);
      const text = `Step "${name}" could not be checked, so it counts as denied. Its operator has to look at the gateway.`;
      return ['unavailable', refused(text)];
    }
  }

  return {
    newStepId: randomUUID,
    async decide(question, run) {
      const began = performance.now();
      let came: StepResult = 'error';
      try {
        const [result, outcome] = await decide(question, run);
        came = result;
        return outcome;
      } finally {
        metrics.step(question.type, came, (performance.now() - began) / 1_000);
      }
    },
  };
}

/** What a model is told of data that controls cannot look at; the error itself is for who writes programs. */
function uncheckable({ step, stage }: StepDataError): string {
  return stage === 'pre'
    ? `Step "${step}" did not run: its arguments cannot be checked, for example because they are nested too deeply.`
    : `Step "${step}" ran, and its result is withheld: it cannot be checked or changed as controls demand.`;
}
