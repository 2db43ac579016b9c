import { type AgentKey, nameOfKey, namespaceOfKey } from '../../contract/call/namespace.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { MismatchCounts } from '../../decide/decisions/mismatch-counts.js';
import { labelOf } from '../../decide/decisions/revised-verdict.js';
import type { ToldVerdict, VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { Metrics } from '../operations/metrics.js';
import type { Foundations } from './foundations.js';

/** Measures every verdict that is answered. */
export function measuringObserver(metrics: Pick<Metrics, 'evaluated'>): VerdictObserver {
  return {
    told({ request, verdict, caller, differs, isAnswered }) {
      if (isAnswered) metrics.evaluated(labelOf(verdict, differs), request.stage, caller.protocol);
    },
  };
}

/** Counts verdicts by controls of the last known good file. */
export function createKeptCount(): { readonly observer: VerdictObserver; count(): number } {
  let kept = 0;
  return {
    observer: {
      told({ verdict }) {
        if (verdict.staleness_seconds !== null) kept += 1;
      },
    },
    count: () => kept,
  };
}

/** Tells the operator of agents without enabled controls. */
export function uncontrolledObserver(
  config: Foundations['config'],
  failures: Pick<RepeatLog, 'told'>,
): VerdictObserver {
  const line = UNCONTROLLED[config.agentsWithoutControls];
  return {
    told({ loaded, agent }) {
      if (loaded?.program.isEmpty === true) {
        failures.told('warn', 'agents without controls', line, agentFacts(agent));
      }
    },
  };
}

/** Counts steps that differ from their registered schemas, and tells the operator of them. */
export function mismatchObserver(
  metrics: Pick<Metrics, 'mismatched'>,
  mismatches: MismatchCounts,
  failures: Pick<RepeatLog, 'told'>,
): VerdictObserver {
  return {
    told({ request, verdict, loaded, agent }: ToldVerdict) {
      const { schema_mismatch: mismatch } = verdict;
      const mode = loaded?.comparison?.mode;
      if (mismatch === null || mode === undefined) return;
      const { step, stage } = request;
      metrics.mismatched(stage, mode);
      mismatches.note(agent, step, mismatch);
      const facts = { ...agentFacts(agent), step: step.name, path: mismatch.path, problem: mismatch.problem };
      failures.told('warn', `step schemas ${agent}`, MISMATCHED[mode], facts);
    },
  };
}

/** An agent in log lines; its namespace is named unless it is `default`. */
function agentFacts(agent: AgentKey): object {
  const name = nameOfKey(agent);
  return agent === name ? { agent } : { agent: name, namespace: namespaceOfKey(agent) };
}

/** Lines about agents without controls, by the setting. */
const UNCONTROLLED = {
  warn: 'steps of an agent without enabled controls are allowed: link a control or a policy to it, or set SERVICE_AGENTS_WITHOUT_CONTROLS=deny',
  deny: 'steps of an agent without enabled controls are denied: link a control or a policy to it',
} as const;

/** Lines about steps that differ from their registered schemas, by the mode. */
const MISMATCHED = {
  warn: 'a step differs from the schema that its agent registered, and is decided by the controls alone: SERVICE_STEP_SCHEMAS=enforce denies such steps',
  enforce: 'a step is denied because it differs from the schema that its agent registered',
} as const;
