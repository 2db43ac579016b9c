import { type DuplicateMembers, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import { ownMemory } from '../../../packages/supervised-worker/src/index.js';
import type { MessageReader } from '../../contract/call/handler.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { HeldExplain } from '../../observe/explain/explain-service.js';
import type { Explanation } from '../../observe/explain/trial.js';
import { withExactSteps } from '../wire/exact-steps.js';
import type { PassOn } from './thread-messages.js';

/** Reads large messages of Explain in the thread, which also tries their steps. `lost` is the error without the thread. */
export function createExplainReader(
  takes: (bytes: number) => boolean,
  passOn: PassOn,
  release: (number: number) => void,
  lost: () => Error,
  duplicates: DuplicateMembers,
  modeOf: (own: StepSchemaMode | null) => StepSchemaMode,
): MessageReader<HeldExplain> {
  return {
    takes,
    exact: withExactSteps,
    async read({ form, bytes }, call) {
      const own = ownMemory(bytes);
      const { number: of, answer } = passOn(
        (explain) => ({ explain, form, bytes: own, duplicates }),
        [own.buffer],
      );
      call.whenEnded(() => release(of));
      const read = await answer;
      if (!('members' in read)) throw lost();
      call.ignores(read.ignored);
      return {
        ...(parseStoredJson(read.members) as unknown as Omit<HeldExplain, 'held'>),
        held: {
          name: read.name,
          sha256: read.sha256,
          async tried(rows, trial) {
            const agent = trial.agent && { ...trial.agent, stepSchemas: modeOf(trial.agent.stepSchemas) };
            const made = await passOn((tried) => ({ tried, of, rows, trial: { ...trial, agent } })).answer;
            if (!('explanation' in made)) throw lost();
            return parseStoredJson(made.explanation) as unknown as Explanation;
          },
        },
      };
    },
  };
}
