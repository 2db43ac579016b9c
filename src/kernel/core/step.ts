import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';

/** Time of evaluation relative to the step. */
export const STAGES = ['pre', 'post'] as const;
export type Stage = (typeof STAGES)[number];

/** The step an agent is about to take, or has taken. */
export interface Step {
  readonly type: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly context: JsonObject | null;
}
