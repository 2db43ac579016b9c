/**
 * Evaluates controls with execution `sdk` in the process of the agent: `import { localControls } from
 * '@control-enforcement/client/local'`.
 */
import { Detail } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import type { Step } from '../../../../src/kernel/core/types.js';
import { celEvaluator } from '../../../../src/kernel/evaluators/cel/cel.js';
import { jsonEvaluator } from '../../../../src/kernel/evaluators/json/json.js';
import { listEvaluator } from '../../../../src/kernel/evaluators/list/list.js';
import { regexEvaluator } from '../../../../src/kernel/evaluators/regex/regex.js';
import { decodeJsonText, isObject, parseJson } from '../../../exact-json/src/index.js';
import type { LocalControls, LocalDecider, LocalHost, LocalQuestion } from '../local-controls.js';
import { milliseconds } from '../settings.js';
import { AgentWatch, type LocalState } from './agent-watch.js';
import { createLocalCompiler } from './local-program.js';
import { undecided, verdictMessage } from './verdict-message.js';

export type { LocalControls } from '../local-controls.js';

/** Options of {@link localControls}. */
export interface LocalOptions {
  /**
   * Longest time since the service last confirmed the controls, in milliseconds; 60,000 when absent. With older controls
   * no step is safe. The service confirms every 15 seconds.
   */
  readonly maxStalenessMs?: number | undefined;
  /** See `WatchOptions.maxMessageBytes`. */
  readonly maxMessageBytes?: number | undefined;
}

const MAX_STALENESS_MS = 60_000;

/** The evaluators that need neither a worker nor a process. */
const REGISTRY: EvaluatorRegistry = new Map(
  [regexEvaluator, listEvaluator, jsonEvaluator, celEvaluator].map((evaluator) => [
    evaluator.name,
    evaluator,
  ]),
);

/**
 * Setting `local` of a client: evaluates the controls with execution `sdk` of each agent that the client evaluates steps
 * of. Controls whose evaluator is not regex, list, json or cel cannot be evaluated here: if they deny, the step is denied.
 */
export function localControls(options: LocalOptions = {}): LocalControls {
  const maxStalenessMs = milliseconds('maxStalenessMs', options.maxStalenessMs ?? MAX_STALENESS_MS, 1);
  return { open: (host) => createDecider(host, { ...options, maxStalenessMs }) };
}

function createDecider(
  host: LocalHost,
  { maxStalenessMs, maxMessageBytes }: LocalOptions & { readonly maxStalenessMs: number },
): LocalDecider {
  const compile = createLocalCompiler(REGISTRY);
  const watches = new Map<string, AgentWatch>();
  let isClosed = false;

  function watchOf(agent: string): AgentWatch {
    const known = watches.get(agent);
    if (known !== undefined) return known;
    const onIdle = (): void => void watches.delete(agent);
    const watch = new AgentWatch({ host, agent, compile, maxMessageBytes, onIdle });
    watches.set(agent, watch);
    return watch;
  }

  /** Why controls must not decide; undefined when they may. */
  function objection(state: LocalState | undefined, minRevision: bigint): string | undefined {
    if (state === undefined) return 'have not been received';
    const staleMs = Math.round(performance.now() - state.confirmedAt);
    if (staleMs > maxStalenessMs) {
      return `were last confirmed ${staleMs} ms ago, longer than maxStalenessMs (${maxStalenessMs})`;
    }
    if (state.revision >= minRevision) return undefined;
    return `are of revision ${state.revision}, and ${minRevision} is required`;
  }

  async function decide(question: LocalQuestion) {
    const { stage, detail, minRevision, timeoutMs } = question;
    // As the service does.
    const agent = question.agent.trim().toLowerCase();
    const step = readStep(question.stepJson);
    if (step === undefined) return undecided('The step is not one that controls can check');
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (isClosed) return undecided('The client is closed');
      const watch = watchOf(agent);
      watch.asked();
      const { state, failure } = watch;
      const problem = objection(state, minRevision);
      if (state !== undefined && problem === undefined) {
        const verdict = await state.program.evaluate(
          agent,
          step,
          stage,
          detail === Detail.FULL ? 'full' : 'verdict',
        );
        return verdictMessage(verdict, state.revision);
      }
      const left = deadline - performance.now();
      const because =
        failure === undefined ? '' : `: ${failure instanceof Error ? failure.message : failure}`;
      if (failure !== undefined || left <= 0) {
        return undecided(`The local controls of agent "${agent}" ${problem}${because}`, state?.revision);
      }
      watch.nudge();
      await watch.change(left);
    }
  }

  return {
    decide: (question) =>
      decide(question).catch((error) => undecided(`The local controls could not be evaluated: ${error}`)),
    close() {
      isClosed = true;
      for (const watch of watches.values()) watch.close();
    },
  };
}

/** The step as the service reads it; undefined when the service refuses it. */
function readStep(json: Uint8Array): Step | undefined {
  const step = parseJson(decodeJsonText(json));
  if (!isObject(step)) return undefined;
  const { type, name, input, output = null, context = null } = step;
  if (typeof type !== 'string' || typeof name !== 'string' || input === undefined) return undefined;
  if (context !== null && !isObject(context)) return undefined;
  return { type, name, input, output, context };
}
