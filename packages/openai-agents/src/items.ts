import {
  isSameData,
  type ModelMessage,
  type ModelOutput,
  parsedArguments,
  shownFile,
  shownMembers,
  unchangeableMessages,
} from '@control-enforcement/client/frameworks';
import type { AgentInputItem, AgentOutputItem, ModelRequest } from '@openai/agents';

/** Kinds of parts that have a text, and the member that it is in. */
const TEXTS: Readonly<Record<string, string>> = {
  input_text: 'text',
  output_text: 'text',
  summary_text: 'text',
  reasoning_text: 'text',
  refusal: 'refusal',
};

type Data = Readonly<Record<string, unknown>>;

/** The input of a model as controls see it: the instructions, then the items; of files see `shownFile` of the client. */
export function shownInput({ systemInstructions, input }: ModelRequest): ModelMessage[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input.map(shownItem);
  return systemInstructions === undefined
    ? items
    : [{ role: 'system', content: systemInstructions }, ...items];
}

function shownItem(item: AgentInputItem): ModelMessage {
  if ('role' in item && 'content' in item) return { role: item.role, content: shownContent(item.content) };
  if (item.type === 'function_call')
    return { role: 'assistant', content: { type: item.type, name: item.name, arguments: item.arguments } };
  if (item.type === 'function_call_result')
    return { role: 'tool', content: { type: item.type, name: item.name, output: shownContent(item.output) } };
  if (item.type === 'reasoning')
    return { role: 'assistant', content: [...item.content, ...(item.rawContent ?? [])].map(shownPart) };
  return { role: item.type ?? 'unknown', content: shownCall(item) };
}

/** Members of calls of tools and of their results that have text. */
const CALL_MEMBERS = [
  'name',
  'arguments',
  'action',
  'actions',
  'operation',
  'code',
  'output',
  'tools',
  'status',
];

/** The call of another tool than a function, or its result. Pictures of a computer are not shown. */
function shownCall(item: AgentInputItem): Data {
  const given = item as Data & { readonly type: string };
  if (given.type === 'computer_call_result') return { type: given.type };
  return { type: given.type, ...shownMembers(given, CALL_MEMBERS) };
}

function shownContent(content: unknown): unknown {
  if (Array.isArray(content)) return content.map(shownPart);
  return typeof content === 'string' ? content : shownPart(content);
}

function shownPart(part: unknown): unknown {
  const { type, ...members } = part as Data & { readonly type: string };
  const name = TEXTS[type] ?? (typeof members.text === 'string' ? 'text' : undefined);
  if (name !== undefined) return { type, text: members[name] };
  const { image, file = image, filename, mediaType } = members;
  const { url = file, data, filename: inner = filename } = (isData(file) ? file : {}) as Data;
  return shownFile({
    type,
    mediaType: textOrNone(mediaType ?? (isData(file) ? file.mediaType : undefined)),
    name: textOrNone(inner),
    url: textOrNone(url),
    data: data instanceof Uint8Array ? data : textOrNone(data),
  });
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A request after its changes. Throws a StepDataError if it cannot be changed so: then the model must not see it. */
export function changedRequest(request: ModelRequest, changed: readonly ModelMessage[]): ModelRequest {
  const { systemInstructions, input } = request;
  const [first, ...others] = changed;
  const messages = systemInstructions === undefined ? changed : others;
  return {
    ...request,
    ...(systemInstructions === undefined ? {} : { systemInstructions: textIn(first?.content) }),
    input:
      typeof input === 'string'
        ? textIn(messages[0]?.content)
        : input.map((item, index) => changedItem(item, messages[index])),
  };
}

function changedItem(item: AgentInputItem, changed: ModelMessage | undefined): AgentInputItem {
  const shown = shownItem(item);
  if (isSameData(shown, changed)) return item;
  const content = changed?.content;
  if ('role' in item && 'content' in item)
    return { ...item, content: changedContent(item.content, content) } as AgentInputItem;
  const { arguments: args, output } = content as Data;
  if (item.type === 'function_call') return { ...item, arguments: textIn(args) };
  if (item.type === 'function_call_result')
    return { ...item, output: changedContent(item.output, output) } as AgentInputItem;
  throw unchangeableMessages();
}

function changedContent(content: unknown, changed: unknown): unknown {
  if (typeof content === 'string') return textIn(changed);
  if (!Array.isArray(content)) return changedPart(content, changed);
  if (!Array.isArray(changed) || changed.length !== content.length) throw unchangeableMessages();
  return content.map((part, index) => changedPart(part, changed[index]));
}

function changedPart(part: unknown, changed: unknown): unknown {
  if (isSameData(shownPart(part), changed)) return part;
  const { type, text } = changed as Data;
  return { ...(part as Data), [TEXTS[String(type)] ?? 'text']: textIn(text) };
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  throw unchangeableMessages();
}

/** The answer of a model as controls see it. */
export function shownOutput(
  items: readonly AgentOutputItem[],
  usage: { readonly inputTokens?: number; readonly outputTokens?: number } | undefined,
): ModelOutput {
  const calls = items.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, input: parsedArguments(item.arguments) }] : [],
  );
  const parts = items.flatMap((item): unknown[] => {
    if (item.type === 'reasoning') return [...item.content, ...(item.rawContent ?? [])].map(shownPart);
    return isAnswer(item) || item.type === 'function_call' ? [] : [shownCall(item)];
  });
  return {
    text: textOf(items),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(parts.length === 0 ? {} : { parts }),
    ...(usage === undefined
      ? {}
      : { usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens } }),
  };
}

/** Everything that the model wrote, in order. */
export function textOf(items: readonly AgentOutputItem[]): string {
  return items
    .flatMap((item) => (isAnswer(item) ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
    .join('');
}

/** The items with another text. It takes the place of the first one: a change does not say where one ends. */
export function withText(items: readonly AgentOutputItem[], text: string): AgentOutputItem[] {
  if (textOf(items) === text) return [...items];
  return [message(text), ...items.filter((item) => !isAnswer(item))];
}

export function message(text: string): AgentOutputItem {
  return {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  };
}

function isAnswer(item: AgentOutputItem): item is Extract<AgentOutputItem, { role: 'assistant' }> {
  return 'role' in item && item.role === 'assistant';
}
