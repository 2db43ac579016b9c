import { parseStoredJson } from '../../../packages/exact-json/src/index.js';
import { DocumentText } from '../../configuration/document-reading.js';
import type { MessageReader, ReaderCall, UnreadMessage } from '../../contract/call/handler.js';
import type { StepSchemaMode } from '../../core/step-schemas.js';
import type { HeldExplain } from '../../explain/explain-service.js';
import type { Explanation, HeldTrial } from '../../explain/trial.js';
import type { LintMessage } from '../../lint/lint.js';
import type { InputMessage, SentInput, ThreadAnswer, TrialJob } from './thread-messages.js';

/** Readers of large messages of RPCs besides evaluations, which hold up no other call either. */
export interface InputReaders {
  readonly explain: MessageReader<HeldExplain>;
  readonly lint: MessageReader<LintMessage>;
}

/** What passes messages to the thread. */
export interface InputThread {
  takes(bytes: number): boolean;
  /** Rejects when the thread is lost. */
  input(message: UnreadMessage, rpc: InputMessage['rpc']): Promise<{ number: number; sent: SentInput }>;
  tried(job: Omit<TrialJob, 'tried'>): Promise<ThreadAnswer>;
  release(number: number): void;
  /** How steps of an agent with this setting are compared with its schemas. */
  modeOf(own: StepSchemaMode | null): StepSchemaMode;
  /** The error of what the thread does not have any more. */
  lost(): Error;
}

export function createInputReaders({
  takes,
  input,
  tried,
  release,
  modeOf,
  lost,
}: InputThread): InputReaders {
  async function read(message: UnreadMessage, rpc: InputMessage['rpc'], call: ReaderCall) {
    const { number, sent } = await input(message, rpc);
    call.ignores(sent.ignored);
    call.whenEnded(() => release(number));
    return { number, sent };
  }
  const heldTrial = (of: number, step: { readonly name: string; readonly sha256: string }): HeldTrial => ({
    ...step,
    async tried(rows, { agent, ...trial }) {
      const known = agent && { name: agent.name, data: agent.data, stepSchemas: modeOf(agent.stepSchemas) };
      const answer = await tried({ of, rows, trial: { ...trial, agent: known } });
      if (!('explanation' in answer)) throw lost();
      return parseStoredJson(answer.explanation) as unknown as Explanation;
    },
  });
  return {
    explain: {
      takes,
      async read(message, call) {
        const { number, sent } = await read(message, 'explain', call);
        if (sent.step === undefined) throw lost();
        return {
          ...(parseStoredJson(sent.members) as unknown as Omit<HeldExplain, 'held'>),
          held: heldTrial(number, sent.step),
        };
      },
    },
    lint: {
      takes,
      async read(message, call) {
        const { sent } = await read(message, 'lintConfiguration', call);
        const { each_alone } = parseStoredJson(sent.members) as unknown as LintMessage;
        return { each_alone, documents: (sent.documents ?? []).map((text) => new DocumentText(text)) };
      },
    },
  };
}
