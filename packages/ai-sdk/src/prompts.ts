import {
  isSameData,
  type ModelMessage,
  shownFile,
  unchangeableMessages,
} from '@control-enforcement/client/frameworks';
import type { PromptMessage } from './sdk-types.js';

type Part = Exclude<PromptMessage['content'], string>[number];

/** A message as controls see it: texts, calls of tools and their results; of files see `shownFile` of the client. */
export function shownMessage({ role, content }: PromptMessage): ModelMessage {
  if (typeof content === 'string') return { role, content };
  return { role, content: content.map(shownPart) };
}

function shownPart(part: Part): unknown {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text };
    case 'tool-call':
      return { type: part.type, name: part.toolName, input: part.input };
    case 'tool-result':
      return { type: part.type, name: part.toolName, output: shownOutput(part.output) };
    case 'file':
      return fileOf(part);
    default:
      return { type: part.type };
  }
}

type Output = Extract<Part, { type: 'tool-result' }>['output'];

function shownOutput(output: Output): unknown {
  if ('value' in output && output.type !== 'content') return output.value;
  if (output.type !== 'content') return { type: output.type, reason: output.reason };
  return output.value.map((one) =>
    one.type === 'text'
      ? { type: one.type, text: one.text }
      : one.type === 'file'
        ? fileOf(one)
        : { type: one.type },
  );
}

function fileOf({ type, mediaType, filename, data }: Extract<Part, { type: 'file' }>): unknown {
  const content =
    data.type === 'url'
      ? { url: String(data.url) }
      : {
          text: data.type === 'text' ? data.text : undefined,
          data: data.type === 'data' ? data.data : undefined,
        };
  return shownFile({ type, mediaType, name: filename, ...content });
}

/** A message after its changes. Throws a StepDataError if it cannot be changed so: then the model must not see it. */
export function changedMessage(message: PromptMessage, changed: ModelMessage | undefined): PromptMessage {
  if (isSameData(shownMessage(message), changed)) return message;
  const { content } = message;
  const now = changed?.content;
  if (typeof content === 'string' && typeof now === 'string')
    return { ...message, content: now } as PromptMessage;
  if (typeof content === 'string' || !Array.isArray(now) || now.length !== content.length)
    throw unchangeableMessages();
  return {
    ...message,
    content: content.map((part, index) => changedPart(part, now[index])),
  } as PromptMessage;
}

function changedPart(part: Part, changed: unknown): Part {
  if (isSameData(shownPart(part), changed)) return part;
  const { text, input, output } = changed as { text?: unknown; input?: unknown; output?: unknown };
  if ((part.type === 'text' || part.type === 'reasoning') && typeof text === 'string')
    return { ...part, text };
  if (part.type === 'tool-call' && input !== undefined) return { ...part, input };
  if (
    part.type === 'tool-result' &&
    'value' in part.output &&
    part.output.type !== 'content' &&
    output !== undefined
  )
    return { ...part, output: { ...part.output, value: output } as Output };
  throw unchangeableMessages();
}
