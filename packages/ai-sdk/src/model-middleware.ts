import {
  type AnswerShape,
  checkedStream,
  type ModelCall,
  type ModelCalls,
  type ModelOutput,
  type ModelRequest,
  type PartKind,
  parsedArguments,
  type StreamShape,
} from '@control-enforcement/client/frameworks';
import type { LanguageModelMiddleware } from 'ai';
import { changedMessage, shownMessage } from './prompts.js';
import type { CallParams, ContentPart, FinishPart, GenerateResult, StreamPart } from './sdk-types.js';

const REFUSED: FinishPart['finishReason'] = { unified: 'content-filter', raw: undefined };
const NO_USAGE: FinishPart['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Checks what goes to a model and what it answers, whole or in windows. */
export function createModelMiddleware(calls: ModelCalls): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    wrapGenerate: async ({ params, model }) =>
      calls.answer(given(params), (request) => model.doGenerate(request), ANSWER),
    async wrapStream({ params, model }) {
      let call: ModelCall<CallParams>;
      try {
        call = await calls.begin(given(params));
      } catch (error) {
        const parts: StreamPart[] = [
          { type: 'stream-start', warnings: [] },
          ...refusedParts(calls.refusalText(error)),
        ];
        return { stream: streamOf(each(parts)) };
      }
      try {
        const result = await model.doStream(call.request);
        return { ...result, stream: streamOf(checkedStream(partsOf(result.stream), calls, call, SHAPE)) };
      } catch (error) {
        void call.fail(error);
        throw error;
      }
    },
  };
}

function given(params: CallParams): ModelRequest<CallParams> {
  return {
    request: params,
    messages: params.prompt.map(shownMessage),
    change: (messages) => ({
      ...params,
      prompt: params.prompt.map((message, index) => changedMessage(message, messages[index])),
    }),
    signal: params.abortSignal,
  };
}

const ANSWER: AnswerShape<GenerateResult> = {
  output: ({ content, usage }) => outputOf(content, content.map(textOf).join(''), usage),
  changed: (result, text) => ({ ...withoutBody(result), content: withText(result.content, text) }),
  refused(text, result) {
    const refusal = { content: [{ type: 'text' as const, text }], finishReason: REFUSED };
    return result === undefined
      ? { ...refusal, usage: NO_USAGE, warnings: [] }
      : { ...withoutBody(result), ...refusal };
  },
};

/** A result without what its provider sent, which has the text that is not to be shown. */
function withoutBody({ providerMetadata: _unchecked, response, ...result }: GenerateResult): GenerateResult {
  if (response === undefined) return result;
  const { body: _text, ...rest } = response;
  return { ...result, response: rest };
}

function textOf(part: ContentPart): string {
  return part.type === 'text' || part.type === 'reasoning' ? part.text : '';
}

/** The whole text takes the place of the first one: a change does not say where one part ends. */
function withText(content: readonly ContentPart[], text: string): ContentPart[] {
  return [{ type: 'text', text }, ...content.filter(({ type }) => type !== 'text' && type !== 'reasoning')];
}

function outputOf(
  parts: readonly (ContentPart | StreamPart)[],
  text: string,
  usage: FinishPart['usage'] | undefined,
): ModelOutput {
  const toolCalls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ name: part.toolName, input: parsedArguments(part.input) }] : [],
  );
  const others = parts.flatMap((part): unknown[] => {
    if (part.type === 'tool-result') return [{ type: part.type, name: part.toolName, result: part.result }];
    if (part.type === 'file' || part.type === 'reasoning-file')
      return [{ type: part.type, media_type: part.mediaType }];
    if (part.type !== 'source') return [];
    return [{ type: part.type, title: part.title, ...('url' in part ? { url: part.url } : {}) }];
  });
  return {
    text,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(others.length === 0 ? {} : { parts: others }),
    ...(usage === undefined
      ? {}
      : { usage: { input_tokens: usage.inputTokens.total, output_tokens: usage.outputTokens.total } }),
  };
}

const KINDS: { readonly [Type in StreamPart['type']]?: PartKind } = {
  'text-start': 'start',
  'reasoning-start': 'start',
  'text-delta': 'text',
  'reasoning-delta': 'text',
  'text-end': 'end',
  'reasoning-end': 'end',
  'stream-start': 'passed',
  'response-metadata': 'passed',
  ping: 'passed',
  error: 'passed',
  // The bytes of the provider, with its text in them.
  raw: 'dropped',
};

const SHAPE: StreamShape<StreamPart> = {
  kind: ({ type }) => KINDS[type] ?? 'held',
  text: (part) =>
    part.type === 'text-delta' || part.type === 'reasoning-delta'
      ? { text: part.delta, key: `${part.type} ${part.id}` }
      : { text: '', key: '' },
  released: (text, like) => {
    if (like.type !== 'text-delta' && like.type !== 'reasoning-delta') return like;
    return { type: like.type, id: like.id, delta: text };
  },
  output(parts, text) {
    const finish = parts.find((part) => part.type === 'finish');
    return outputOf(parts, text, finish?.usage);
  },
  ending: (held, _text, isChanged) => (isChanged ? held.map(withoutMetadata) : held),
  refusal(text, _released, bounds) {
    const open = new Map<string, StreamPart>();
    for (const { type, ...part } of bounds) {
      const id = 'id' in part ? String(part.id) : '';
      if (type === 'text-start') open.set(`text ${id}`, { type: 'text-end', id });
      if (type === 'reasoning-start') open.set(`reasoning ${id}`, { type: 'reasoning-end', id });
      if (type === 'text-end') open.delete(`text ${id}`);
      if (type === 'reasoning-end') open.delete(`reasoning ${id}`);
    }
    return [...open.values(), ...refusedParts(text)];
  },
};

/** The end of an answer without what its provider says of the tokens, which has the text that is not to be shown. */
function withoutMetadata(part: StreamPart): StreamPart {
  if (part.type !== 'finish') return part;
  const { providerMetadata: _unchecked, ...rest } = part;
  return rest;
}

function refusedParts(text: string): StreamPart[] {
  const id = 'refusal';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
    { type: 'finish', finishReason: REFUSED, usage: NO_USAGE },
  ];
}

/** The parts of a stream, which can be cancelled while the next one is awaited: its own iterator would wait for that. */
function partsOf(stream: ReadableStream<StreamPart>): AsyncIterableIterator<StreamPart, void, undefined> {
  const reader = stream.getReader();
  return {
    async next() {
      const { value } = await reader.read();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    async return() {
      await reader.cancel();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* each(parts: readonly StreamPart[]): AsyncGenerator<StreamPart, void, undefined> {
  yield* parts;
}

function streamOf(parts: AsyncIterableIterator<StreamPart, void, undefined>): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>({
    async pull(controller) {
      const next = await parts.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await parts.return?.();
    },
  });
}
