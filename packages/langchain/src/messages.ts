import {
  isSameData,
  type ModelMessage,
  type ModelOutput,
  shownFile,
  shownMembers,
  unchangeableMessages,
} from '@control-enforcement/client/frameworks';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';

type Data = Readonly<Record<string, unknown>>;

/** A message as controls see it: its texts and calls of tools; of files see `shownFile` of the client. */
export function shownMessage(message: BaseMessage): ModelMessage {
  const { content } = message;
  const shown = typeof content === 'string' ? content : content.map(shownBlock);
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  if (calls.length === 0) return { role: message.getType(), content: shown };
  return {
    role: message.getType(),
    content: { text: shown, tool_calls: calls.map(({ name, args }) => ({ name, input: args })) },
  };
}

/** Members of blocks with calls of tools, their results, and what only a provider knows. */
const BLOCK_MEMBERS = [
  'name',
  'args',
  'input',
  'output',
  'content',
  'value',
  'title',
  'context',
  'refusal',
  'error',
];

/** A block with its texts, such as those of a thought, or with its data. */
function shownBlock(block: unknown): unknown {
  const given = block as Data & { readonly type: string };
  const { type, text, reasoning, thinking, url, data, image_url: image } = given;
  const own = text ?? reasoning ?? thinking;
  if (typeof own === 'string') return { type, text: own };
  const address = url ?? (isObject(image) ? image.url : image);
  return {
    ...shownFile({
      type,
      mediaType: textIn(given.mimeType ?? given.mime_type),
      name: textIn(isObject(given.metadata) ? given.metadata.filename : undefined),
      url: textIn(address),
      data: data instanceof Uint8Array ? data : textIn(data),
    }),
    ...shownMembers(given, BLOCK_MEMBERS),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A message after its changes. Throws a StepDataError if it cannot be changed so: then the model must not see it. */
export function changedMessage<Message extends BaseMessage>(
  message: Message,
  changed: ModelMessage | undefined,
): Message {
  if (isSameData(shownMessage(message), changed)) return message;
  const now = changed?.content;
  const { text, tool_calls: calls } =
    isObject(now) && 'tool_calls' in now ? now : { text: now, tool_calls: undefined };
  const shown = shownMessage(message).content;
  if (isObject(shown) && 'tool_calls' in shown && !isSameData(shown.tool_calls, calls))
    throw unchangeableMessages();
  return withContent(message, changedContent(message.content, text));
}

function changedContent(content: BaseMessage['content'], changed: unknown): BaseMessage['content'] {
  if (typeof content === 'string') {
    if (typeof changed === 'string') return content === changed ? content : changed;
    throw unchangeableMessages();
  }
  if (!Array.isArray(changed) || changed.length !== content.length) throw unchangeableMessages();
  return content.map((block, index) => {
    const now: unknown = changed[index];
    if (isSameData(shownBlock(block), now)) return block;
    if (block.type !== 'text' || !isObject(now) || typeof now.text !== 'string') throw unchangeableMessages();
    return { ...block, text: now.text };
  }) as BaseMessage['content'];
}

/** A message of the same class with another content. */
export function withContent<Message extends BaseMessage>(
  message: Message,
  content: BaseMessage['content'],
): Message {
  const copy: Message = Object.create(Object.getPrototypeOf(message));
  const { lc_kwargs } = message;
  return Object.assign(copy, message, { content, lc_kwargs: { ...lc_kwargs, content } });
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an answer that are counted and checked. */
interface Answer {
  readonly tool_calls?: readonly { readonly name: string; readonly args: unknown }[];
  readonly invalid_tool_calls?: readonly { readonly name?: string; readonly args?: string }[];
  readonly usage_metadata?: { readonly input_tokens: number; readonly output_tokens: number };
}

/** Additional members of answers that repeat what is shown elsewhere, or are the bytes of a provider. */
const REPEATED = new Set(['reasoning_content', 'tool_calls', 'function_call', '__raw_response', 'audio']);

/** An answer of a model as controls see it. */
export function shownOutput(message: BaseMessage): ModelOutput {
  const {
    tool_calls: calls = [],
    invalid_tool_calls: invalid = [],
    usage_metadata: usage,
  } = message as Answer;
  const { reasoning_content: reasoning } = message.additional_kwargs;
  const parts = typeof message.content === 'string' ? [] : message.content.filter(isOther).map(shownBlock);
  if (typeof reasoning === 'string') parts.push({ type: 'reasoning', text: reasoning });
  const more = Object.entries(message.additional_kwargs).filter(([name]) => !REPEATED.has(name));
  if (more.length > 0) parts.push({ type: 'additional', ...Object.fromEntries(more) });
  for (const { name, args } of invalid) parts.push({ type: 'invalid_tool_call', name, args });
  return {
    text: message.text,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ name, args }) => ({ name, input: args })) }),
    ...(parts.length === 0 ? {} : { parts }),
    ...(usage === undefined
      ? {}
      : { usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens } }),
  };
}

/** An answer with another text. It takes the place of all texts: a change does not say where one ends. */
export function withText<Message extends BaseMessage>(message: Message, text: string): Message {
  if (message.text === text) return message;
  const { content } = message;
  const others = typeof content === 'string' ? [] : content.filter(isOther);
  const changed =
    others.length === 0 ? text : ([{ type: 'text', text }, ...others] as BaseMessage['content']);
  return bare(withContent(message, changed));
}

/** A message without what its provider said besides, such as its tokens: it has the text that is not to be shown. */
export function bare<Message extends BaseMessage>(message: Message): Message {
  const response_metadata = scalars(message.response_metadata);
  const members = { additional_kwargs: {}, response_metadata };
  return Object.assign(message, members, { lc_kwargs: { ...message.lc_kwargs, ...members } });
}

/** The members that are no data of their own. */
export function scalars(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => typeof value !== 'object'));
}

/** A message without its texts. */
export function withoutTexts<Message extends BaseMessage>(message: Message): Message {
  const { content } = message;
  return withContent(message, typeof content === 'string' ? '' : content.filter(isOther));
}

function isOther({ type }: { readonly type?: unknown }): boolean {
  return type !== 'text';
}
