import {
  type AnswerShape,
  checkedStream,
  type ModelCall,
  type ModelCalls,
  type ModelRequest,
  type StreamShape,
} from '@control-enforcement/client/frameworks';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { type ChatGeneration, ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { type Runnable, RunnableBinding } from '@langchain/core/runnables';
import {
  bare,
  changedMessage,
  scalars,
  shownMessage,
  shownOutput,
  withoutTexts,
  withText,
} from './messages.js';

const REFUSED = { finish_reason: 'content_filter' };

/**
 * A chat model whose input and output are checked, whole or in windows. The callbacks of a run see what it gives: the model
 * inside is called without any, because it would tell them unchecked text.
 */
export class GuardedChatModel extends BaseChatModel<BaseChatModelCallOptions, AIMessageChunk> {
  readonly #calls: ModelCalls;
  readonly #inner: BaseChatModel;

  readonly #sessionId: string | undefined;

  constructor(calls: ModelCalls, inner: BaseChatModel, sessionId?: string) {
    super({ disableStreaming: inner.disableStreaming });
    this.#calls = calls;
    this.#inner = inner;
    this.#sessionId = sessionId;
  }

  override get profile(): BaseChatModel['profile'] {
    return this.#inner.profile;
  }

  _llmType(): string {
    // Called by the constructor of the base, before this has a model inside.
    return 'guarded';
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<BaseChatModelCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, BaseChatModelCallOptions> {
    const bound = this.#inner.bindTools?.(tools, kwargs);
    const guard = (inner: BaseChatModel) => new GuardedChatModel(this.#calls, inner, this.#sessionId);
    if (bound instanceof BaseChatModel) return guard(bound);
    if (bound instanceof RunnableBinding && bound.bound instanceof BaseChatModel)
      return guard(bound.bound).withConfig({ ...bound.config, ...bound.kwargs });
    throw new TypeError(`The model ${this.#inner.getName()} binds no tools in a way that could be checked.`);
  }

  _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const ask = async (allowed: BaseMessage[]): Promise<ChatResult> => {
      const result = await this.#inner._generate(allowed, this.#optionsOf(options));
      // Others are not checked.
      return { ...result, generations: result.generations.slice(0, 1) };
    };
    return this.#calls.answer(this.#given(messages, options), ask, ANSWER);
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const chunk of this.#chunks(messages, options)) {
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async *#chunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
  ): AsyncGenerator<ChatGenerationChunk> {
    if (this.#inner._streamResponseChunks === BaseChatModel.prototype._streamResponseChunks) {
      const { generations } = await this._generate(messages, options);
      for (const { text, message, generationInfo } of generations)
        yield wholeChunk(text, message, generationInfo);
      return;
    }
    let call: ModelCall<BaseMessage[]>;
    try {
      call = await this.#calls.begin(this.#given(messages, options));
    } catch (error) {
      yield refusedChunk(this.#calls.refusalText(error));
      return;
    }
    const chunks = this.#inner._streamResponseChunks(call.request, this.#optionsOf(options));
    yield* chunksOf(checkedStream(partsOf(chunks), this.#calls, call, SHAPE));
  }

  /** The options of a call, with those that some models keep themselves and add only where they are invoked. */
  #optionsOf(options: this['ParsedCallOptions']): this['ParsedCallOptions'] {
    const { defaultOptions } = this.#inner as { readonly defaultOptions?: Partial<BaseChatModelCallOptions> };
    return { ...defaultOptions, ...options };
  }

  #given(
    messages: BaseMessage[],
    { signal }: { readonly signal?: AbortSignal },
  ): ModelRequest<BaseMessage[]> {
    return {
      request: messages,
      messages: messages.map(shownMessage),
      change: (changed) => messages.map((message, index) => changedMessage(message, changed[index])),
      ...{ signal, sessionId: this.#sessionId },
    };
  }
}

const ANSWER: AnswerShape<ChatResult> = {
  output: ({ generations: [first] }) => (first === undefined ? { text: '' } : shownOutput(first.message)),
  changed: ({ generations: [first], ...result }, text) => ({
    ...result,
    generations: first === undefined ? [] : [changedGeneration(first, text)],
  }),
  refused: refusedResult,
};

function changedGeneration(generation: ChatGeneration, text: string): ChatGeneration {
  const { message, generationInfo = {} } = generation;
  return { text, message: withText(message, text), generationInfo: scalars(generationInfo) };
}

function refusedResult(text: string): ChatResult {
  const message = new AIMessage({ content: text, response_metadata: REFUSED });
  return { generations: [{ text, message, generationInfo: REFUSED }] };
}

function refusedChunk(text: string): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk(text), generationInfo: REFUSED });
}

function wholeChunk(
  text: string,
  message: BaseMessage,
  generationInfo?: Record<string, unknown>,
): ChatGenerationChunk {
  const {
    content,
    id,
    tool_calls: calls = [],
    usage_metadata: usage,
    response_metadata,
  } = message as AIMessage;
  const chunks = calls.map(({ name, args, id }, index) => {
    const of = { type: 'tool_call_chunk' as const, name, args: JSON.stringify(args), index };
    return id === undefined ? of : { ...of, id };
  });
  const fields = { content, response_metadata, tool_call_chunks: chunks };
  const more = {
    ...(id === undefined ? {} : { id }),
    ...(usage === undefined ? {} : { usage_metadata: usage }),
  };
  const chunk = new AIMessageChunk({ ...fields, ...more });
  return new ChatGenerationChunk({
    text,
    message: chunk,
    ...(generationInfo === undefined ? {} : { generationInfo }),
  });
}

/** The text of a chunk, or the chunk: what it has besides is held until the whole answer is checked. */
type Part =
  | { readonly text: string; readonly id: string | undefined }
  | { readonly chunk: ChatGenerationChunk };

async function* partsOf(chunks: AsyncIterable<ChatGenerationChunk>): AsyncGenerator<Part> {
  for await (const chunk of chunks) {
    const { text, id } = chunk.message;
    if (text !== '') yield { text, id };
    yield { chunk };
  }
}

async function* chunksOf(parts: AsyncIterable<Part>): AsyncGenerator<ChatGenerationChunk> {
  for await (const part of parts) {
    if ('chunk' in part) yield part.chunk;
    else yield textChunk(part.text, part.id);
  }
}

function textChunk(text: string, id: string | undefined): ChatGenerationChunk {
  const message = new AIMessageChunk({ content: text, ...(id === undefined ? {} : { id }) });
  return new ChatGenerationChunk({ text, message });
}

const SHAPE: StreamShape<Part> = {
  kind: (part) => ('chunk' in part ? 'held' : 'text'),
  text: (part) => ({ text: 'chunk' in part ? '' : part.text, key: '' }),
  released: (text, like) => ({ text, id: 'chunk' in like ? undefined : like.id }),
  output(parts, text) {
    const chunks = parts.flatMap((part) => ('chunk' in part ? [part.chunk] : []));
    if (chunks.length === 0) return { text };
    return { ...shownOutput(chunks.reduce((all, chunk) => all.concat(chunk)).message), text };
  },
  ending: (held, _text, isChanged) =>
    held.flatMap((part) => {
      const rest = 'chunk' in part ? withoutText(part.chunk, isChanged) : undefined;
      return rest === undefined ? [] : [{ chunk: rest }];
    }),
  refusal: (text, released) => [{ chunk: refusedChunk(released === '' ? text : `\n${text}`) }],
};

/** What a chunk has besides its text; undefined if nothing. Of a text that was changed, only what does not tell it. */
function withoutText(chunk: ChatGenerationChunk, isChanged: boolean): ChatGenerationChunk | undefined {
  const generationInfo = isChanged ? scalars(chunk.generationInfo ?? {}) : chunk.generationInfo;
  const message = isChanged ? bare(withoutTexts(chunk.message)) : withoutTexts(chunk.message);
  const { tool_call_chunks: calls = [], usage_metadata: usage } = message as AIMessageChunk;
  const members = [
    calls,
    message.content,
    generationInfo ?? {},
    message.additional_kwargs,
    message.response_metadata,
  ];
  if (usage === undefined && members.every((one) => Object.keys(one).length === 0)) return undefined;
  return new ChatGenerationChunk({
    text: '',
    message,
    ...(generationInfo === undefined ? {} : { generationInfo }),
  });
}
