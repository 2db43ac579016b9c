import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { type Step, StepSchema } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { isJsonObject } from '../code/json-members.js';

/** A step to try the controls of a pack with. */
export interface TriedStep {
  /** What the list of results calls it. */
  readonly name: string;
  readonly step: Step;
  readonly stage: Stage;
}

/** Most steps of one preview. */
export const MAX_STEPS = 20;

/**
 * Reads the steps of a JSON text: one step, a list of steps, or a file of test cases of the playground. A step without a
 * stage of its own has the given one. Throws an error that says what is wrong.
 */
export function readSteps(text: string, stage: Stage): readonly TriedStep[] {
  if (text.trim() === '') return [];
  const value = parse(text);
  const list = isJsonObject(value) && Array.isArray(value.cases) ? value.cases : value;
  const items = Array.isArray(list) ? list : [list];
  if (items.length > MAX_STEPS) {
    throw new Error(`These are ${items.length} steps; a preview takes at most ${MAX_STEPS}.`);
  }
  return items.map((item, index) =>
    readStep(item, stage, items.length === 1 ? 'The step' : `Step ${index + 1}`),
  );
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
}

/** A step, or an object with a step as its member `step`, as in test cases. */
function readStep(item: JsonValue, stage: Stage, what: string): TriedStep {
  if (!isJsonObject(item)) throw new Error(`${what} is not an object.`);
  const given = isJsonObject(item.step) ? item.step : item;
  const { type, name, input = null, output, context } = given;
  if (typeof type !== 'string' || type === '') throw new Error(`${what} has no "type", such as "tool".`);
  if (typeof name !== 'string' || name === '') throw new Error(`${what} has no "name".`);
  const members: Record<string, JsonValue> = { type, name, input };
  if (output !== undefined) members.output = output;
  if (context !== undefined) members.context = context;
  const ownName = given === item ? undefined : item.name;
  return {
    name: typeof ownName === 'string' ? ownName : `${type} ${name}`,
    step: fromJson(StepSchema, members),
    stage: item.stage === 'post' ? Stage.POST : item.stage === 'pre' ? Stage.PRE : stage,
  };
}
