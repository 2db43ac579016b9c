import type { LanguageModelMiddleware } from 'ai';

/** Types of the language models of the AI SDK, by way of its middleware: their package need not be installed by name. */
type WrapGenerate = NonNullable<LanguageModelMiddleware['wrapGenerate']>;
type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>;

export type CallParams = Parameters<WrapGenerate>[0]['params'];
export type PromptMessage = CallParams['prompt'][number];
export type GenerateResult = Awaited<ReturnType<WrapGenerate>>;
export type ContentPart = GenerateResult['content'][number];
export type StreamResult = Awaited<ReturnType<WrapStream>>;
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;
export type FinishPart = Extract<StreamPart, { type: 'finish' }>;
