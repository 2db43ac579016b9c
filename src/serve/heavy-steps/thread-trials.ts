import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { isInvalidRequest, withUnreadHint } from '../../contract/input/parse-input.js';
import { requestWarnings } from '../../contract/warnings/request-warnings.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { stepSha256 } from '../../decide/decisions/step-hash.js';
import { createStepSchemaLibrary } from '../../decide/decisions/step-schema-library.js';
import type { Step } from '../../kernel/core/types.js';
import { createExplainSchema } from '../../observe/explain/explain-schema.js';
import { type TrialOptions, tryStep } from '../../observe/explain/trial.js';
import { rpcMethods } from '../descriptors/rpc-methods.js';
import { createInputReader } from '../event-reading/message-input.js';
import { withExactSteps } from '../wire/exact-steps.js';
import type { ExplainMessage, SentExplain, TrialJob } from './thread-messages.js';

/** In the thread: reads messages of Explain, keeps their steps, and tries them. */
export function createThreadTrials(options: Omit<TrialOptions, 'stepSchemas' | 'now' | 'clock'>) {
  const method = rpcMethods(EvaluationService).find(({ desc }) => desc === EvaluationService.method.explain);
  if (method === undefined) throw new Error('there is no RPC Explain');
  const input = createInputReader(method, createExplainSchema(options.registry));
  // The process says how the steps of an agent are compared.
  const stepSchemas = createStepSchemaLibrary('off');
  const steps = new Map<number, Step>();
  return {
    read({ explain, duplicates, ...message }: ExplainMessage): SentExplain {
      let ignored = (): readonly Warning[] => [];
      try {
        const bytes = (message.form === 'json' ? withExactSteps(message.bytes) : undefined) ?? message.bytes;
        const { step, step_json, ...members } = input({ ...message, bytes }, duplicates, (request) => {
          ignored = () => requestWarnings(request());
        });
        const whole = step ?? step_json;
        // The schema demands one of them.
        if (whole === undefined) throw new Error('an explanation needs a step');
        steps.set(explain, whole);
        const sent = stringifyJson(members as unknown as JsonObject);
        return { members: sent, name: whole.name, sha256: stepSha256(whole), ignored: ignored() };
      } catch (error) {
        if (message.form === 'rest' || !isInvalidRequest(error)) throw error;
        throw withUnreadHint(
          error,
          ignored().filter(({ code }) => code === 'unknown_member'),
        );
      }
    },

    /** The explanation as JSON text; undefined for a step that it does not have. */
    async tried({ of, rows, trial }: TrialJob): Promise<string | undefined> {
      const step = steps.get(of);
      if (step === undefined) return undefined;
      const now = () => performance.now();
      const made = await tryStep(rows, { ...trial, step }, { ...options, stepSchemas, now, clock: Date.now });
      return stringifyJson(made as unknown as JsonObject);
    },

    release: (number: number) => steps.delete(number),
  };
}
