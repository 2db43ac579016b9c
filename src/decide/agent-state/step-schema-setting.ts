import type { AgentKey } from '../../contract/call/namespace.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';

/** Settings of an agent; `default` is that of the service. From the weakest to the strictest. */
export const STEP_SCHEMA_WORDS = ['default', 'off', 'warn', 'enforce'] as const;
export type StepSchemaWord = (typeof STEP_SCHEMA_WORDS)[number];

const BY_STRENGTH: readonly StepSchemaMode[] = ['off', 'warn', 'enforce'];

/** A registered step of which evaluations differed from its schemas. */
export interface MismatchedStep {
  readonly type: string;
  readonly name: string;
  readonly part: 'input' | 'output';
  readonly path: string;
  readonly problem: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly lastAtMs: number;
}

/** What this process knows of the comparison of steps with their registered schemas. */
export interface StepSchemaReports {
  /** The setting in effect for an agent with this one of its own. */
  modeOf(own: StepSchemaMode | null): StepSchemaMode;
  /** The latest first. */
  mismatchedSteps(agent: AgentKey): readonly MismatchedStep[];
}

/** The setting to store; null for that of the service. */
export function settingOf(word: StepSchemaWord): StepSchemaMode | null {
  return word === 'default' ? null : word;
}

/** Warns of a setting of an agent that is weaker than that of the service. */
export function* settingWarnings(
  word: StepSchemaWord | undefined,
  modeOf: StepSchemaReports['modeOf'],
): Generator<Warning, void> {
  if (word === undefined) return;
  const service = modeOf(null);
  if (BY_STRENGTH.indexOf(modeOf(settingOf(word))) >= BY_STRENGTH.indexOf(service)) return;
  const effect =
    word === 'off'
      ? 'steps of the agent are not compared with their registered schemas'
      : 'steps of the agent that differ from their registered schemas are reported, but not denied';
  const message = `${effect}, which is weaker than the setting of the service, SERVICE_STEP_SCHEMAS=${service}`;
  yield { code: 'weaker_than_service', field: 'step_schemas', message };
}
