import { StepDataError, StepError } from '../errors.js';
import { changedData, errorText, readable } from '../guarded-data.js';
import { newId } from '../new-id.js';
import { throwUnlessSafe } from '../refusals.js';
import type { Evaluation, Outcome, Stage } from '../types.js';
import {
  evaluationOptions,
  type FrameworkCall,
  type FrameworkOptions,
  type Refused,
} from './framework-options.js';
import { isSameData, unchangeableMessages } from './shown-data.js';
import { createTextWindows, ReleasedTextError, type TextWindows, type WindowHost } from './text-windows.js';

const ACCEPTS: readonly Outcome[] = ['steer', 'modify'];

/** A message as controls see it. */
export interface ModelMessage {
  readonly role: string;
  /** A text, or parts of the message as plain data. */
  readonly content: unknown;
}

/** An answer of a model as controls see it. */
export interface ModelOutput {
  /** Everything that the model wrote, in order. */
  readonly text: string;
  readonly tool_calls?: readonly { readonly name: string; readonly input: unknown }[] | undefined;
  /** What else the model gave, as plain data, such as the results of tools of its provider. */
  readonly parts?: readonly unknown[] | undefined;
  readonly usage?: ModelUsage | undefined;
}

/** The tokens of a call, for budgets. */
export interface ModelUsage {
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
}

/** A request to a model. */
export interface ModelRequest<Request> extends FrameworkCall {
  readonly request: Request;
  /** What controls see of it. */
  readonly messages: readonly ModelMessage[];
  /** The request with changed messages. Throws a StepDataError if it cannot be changed so: see `unchangeableMessages`. */
  readonly change: (messages: readonly ModelMessage[]) => Request;
}

/** One call of a model whose input was checked. */
export interface ModelCall<Request = unknown> {
  /** What the model may get. */
  readonly request: Request;
  /** Checks the answer, and ends the step. Returns the text that may be shown. Throws why there is none. */
  end(output: ModelOutput): Promise<string>;
  /** Ends the step of a call that failed, or whose answer is not read to its end. Rejects never. */
  fail(error: unknown): Promise<void>;
  /** Windows over streamed text of the answer. */
  windows(host: Omit<WindowHost, 'check'>): TextWindows;
}

/** How a framework has a whole answer. */
export interface AnswerShape<Answer> {
  output(answer: Answer): ModelOutput;
  /** The answer with another text, and without anything that has the text before. */
  changed(answer: Answer, text: string): Answer;
  /** What stands in place of a refused answer, which is undefined if the model was not called. */
  refused(text: string, answer: Answer | undefined): Answer;
}

/** The calls of the models of a framework. */
export interface ModelCalls {
  /** Checks the input of a call. Throws why it must not be sent to the model. */
  begin<Request>(given: ModelRequest<Request>): Promise<ModelCall<Request>>;
  /** A whole answer as it may be shown. Rejects with what `ask` rejects with, which calls the model. */
  answer<Request, Answer>(
    given: ModelRequest<Request>,
    ask: (request: Request) => PromiseLike<Answer>,
    shape: AnswerShape<Answer>,
  ): Promise<Answer>;
  /** What stands in place of an answer that is refused. Throws the error if it is no refusal, or is to be thrown. */
  refusalText(error: unknown): string;
}

/** Checks calls of models as the options say. */
export function createModelCalls(options: FrameworkOptions): ModelCalls {
  const { client, agent, model, onRefused = 'result' } = options;
  const { step: name = 'model', refusalText = ({ message }: Refused) => message, windows } = model || {};

  const changed = (evaluation: Evaluation, stage: Stage, data: unknown): unknown => {
    const modification = throwUnlessSafe(evaluation, { agent, step: name, stage }, ACCEPTS);
    if (modification === undefined) return undefined;
    return changedData(name, modification.patch, stage === 'pre' ? 'input' : 'output', data);
  };

  const calls: ModelCalls = {
    async begin(asking) {
      const { stepId = newId(), ...ids } = evaluationOptions(options, asking);
      const given = { ...ids, stepId, accepts: ACCEPTS };
      const input = readable({ messages: asking.messages }, name, 'input');
      const asked = { type: 'llm', name, input };
      const before = await client.evaluate({ agent, stage: 'pre', step: asked }, given);
      const allowed = changed(before, 'pre', input) as { readonly messages: ModelMessage[] } | undefined;
      const step = { ...asked, input: allowed ?? input };
      let count = 0;

      /** The text of an output that may be shown. */
      const textOf = (evaluation: Evaluation, output: ModelOutput): string => {
        const allowed = changed(evaluation, 'post', output) as ModelOutput | undefined;
        if (allowed === undefined) return output.text;
        if (JSON.stringify({ ...allowed, text: '' }) === JSON.stringify({ ...output, text: '' }))
          return String(allowed.text);
        const message = `Step "${name}" ran, and its result is withheld: controls change more than its text.`;
        throw new StepDataError(message, name, 'post');
      };

      const fail = async (error: unknown): Promise<void> => {
        // The caller may have left: the end is sent nevertheless.
        const { signal, ...lasting } = given;
        const request = { agent, stage: 'post', step: { ...step, output: null } } as const;
        await client.evaluate(request, { ...lasting, stepError: errorText(error) }).catch(() => {});
      };
      /** The request as it may be sent. */
      const requestOf = (): typeof asking.request => {
        try {
          if (allowed === undefined) return asking.request;
          const rolesOf = (messages: readonly ModelMessage[]) => messages.map(({ role }) => role);
          if (!isSameData(rolesOf(allowed.messages ?? []), rolesOf(asking.messages)))
            throw unchangeableMessages();
          return asking.change(allowed.messages);
        } catch (error) {
          void fail(error);
          throw error;
        }
      };

      return {
        request: requestOf(),
        fail,
        async end(output) {
          const readableOutput = readable(output, name, 'output');
          const request = { agent, stage: 'post', step: { ...step, output: readableOutput } } as const;
          return textOf(await client.evaluate(request, given), output);
        },
        windows: (host) =>
          createTextWindows(
            {
              ...host,
              async check(text) {
                // A step of its own: the end of the call is settled with the whole answer.
                const window = ++count;
                const output = { text };
                const part = { ...step, output, context: { window } };
                const ids = { ...given, stepId: `${stepId.slice(0, 240)}.w${window}` };
                return textOf(await client.evaluate({ agent, stage: 'post', step: part }, ids), output);
              },
            },
            windows,
          ),
      };
    },

    async answer(given, ask, shape) {
      let call: ModelCall<Parameters<typeof ask>[0]>;
      try {
        call = await calls.begin(given);
      } catch (error) {
        return shape.refused(calls.refusalText(error), undefined);
      }
      const answer = await ask(call.request).then(undefined, (error: unknown) => {
        void call.fail(error);
        throw error;
      });
      try {
        const output = shape.output(answer);
        const text = await call.end(output);
        return text === output.text ? answer : shape.changed(answer, text);
      } catch (error) {
        return shape.refused(calls.refusalText(error), answer);
      }
    },

    refusalText(error) {
      if (onRefused === 'throw') throw error;
      if (error instanceof StepError || error instanceof StepDataError) return refusalText(error);
      if (!(error instanceof ReleasedTextError)) throw error;
      const message = `Step "${name}" was stopped after it ran: its text may be shown with changes only, and has begun already.`;
      return refusalText(new StepDataError(message, name, 'post'));
    },
  };
  return calls;
}
