import { ConfigurationService } from '../../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { createConfigurationSchemas } from '../../configuration/configuration-schemas.js';
import { isInvalidRequest, withUnreadHint } from '../../contract/input/parse-input.js';
import { type ReceivedRequest, requestWarnings } from '../../contract/warnings/request-warnings.js';
import type { Step } from '../../core/types.js';
import { stepSha256 } from '../../decisions/step-hash.js';
import { createStepSchemaLibrary } from '../../decisions/step-schema-library.js';
import { createExplainSchema } from '../../explain/explain-schema.js';
import { type TrialOptions, tryStep } from '../../explain/trial.js';
import { rpcMethods } from '../descriptors/rpc-methods.js';
import { createInputReader } from '../event-reading/message-input.js';
import type { InputMessage, SentInput, TrialJob } from './thread-messages.js';

/** In the thread: inputs of RPCs besides evaluations, and trials of the steps among them. */
export function createThreadInputs(options: Omit<TrialOptions, 'stepSchemas' | 'now' | 'clock'>) {
  const methods = new Map(
    [EvaluationService, ConfigurationService]
      .flatMap(rpcMethods)
      .map((method) => [method.desc.localName, method] as const),
  );
  const readerOf = <Input>(rpc: string, schema: Parameters<typeof createInputReader<Input>>[1]) => {
    const method = methods.get(rpc);
    if (method === undefined) throw new Error(`there is no RPC ${rpc}`);
    return createInputReader(method, schema);
  };
  const readers = {
    explain: readerOf('explain', createExplainSchema(options.registry)),
    lintConfiguration: readerOf('lintConfiguration', createConfigurationSchemas().lintConfiguration),
  };
  // The main thread says how steps are compared, agent by agent.
  const stepSchemas = createStepSchemaLibrary('off');
  const steps = new Map<number, Step>();
  return {
    read({ input: number, rpc, duplicates, ...message }: InputMessage): SentInput {
      let received: (() => ReceivedRequest) | undefined;
      const ignored = () => (received === undefined ? [] : requestWarnings(received()));
      try {
        const receives = (request: () => ReceivedRequest) => {
          received = request;
        };
        if (rpc === 'lintConfiguration') {
          const { documents, each_alone } = readers[rpc](message, duplicates, receives);
          return {
            members: stringifyJson({ each_alone }),
            documents: documents.map(stringifyJson),
            ignored: ignored(),
          };
        }
        const { step: whole, step_json: text, ...members } = readers[rpc](message, duplicates, receives);
        const step = whole ?? text;
        // The schema demands one of them.
        if (step === undefined) throw new Error('an explanation needs a step');
        steps.set(number, step);
        const { name } = step;
        return {
          members: stringifyJson(members as unknown as JsonObject),
          step: { name, sha256: stepSha256(step) },
          ignored: ignored(),
        };
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
