import { markedText } from './exact-message.js';

const LINE_END = /\r\n|\n|\r/;

/**
 * A stream of events (SSE) whose messages are marked texts. `unreadable` makes the message that takes the place of one that readers
 * could differ in, `unfinished` the one that a stream lacks that ends, or breaks, after the last message; undefined to leave it out.
 */
export function markedEvents(
  unreadable: (data: string, error: Error) => string | undefined,
  unfinished: (last: string | undefined) => string | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const encoder = new TextEncoder();
  let kept = '';
  let fields: string[] = [];
  let data: string[] = [];
  let last: string | undefined;
  let canBeResumed = false;

  function event(): string {
    const text = data.join('\n');
    const others = fields;
    const hasData = data.length > 0;
    [fields, data] = [[], []];
    canBeResumed ||= others.some((field) => field.startsWith('id:'));
    if (hasData) last = text;
    const message = hasData ? checked(text) : undefined;
    const lines = message === undefined ? [] : message.split(LINE_END).map((line) => `data: ${line}`);
    return `${[...others, ...lines].join('\n')}\n\n`;
  }

  function checked(text: string): string | undefined {
    // Begins a stream, so that it can be taken up again.
    if (text.trim() === '') return text;
    try {
      return markedText(text);
    } catch (error) {
      return unreadable(text, error as Error);
    }
  }

  return new TransformStream({
    transform(chunk, controller) {
      kept += decoder.decode(chunk, { stream: true });
      // The second half of a line end may be yet to come.
      const end = kept.endsWith('\r') ? kept.length - 1 : kept.length;
      const lines = kept.slice(0, end).split(LINE_END);
      kept = (lines.pop() ?? '') + kept.slice(end);
      let made = '';
      for (const line of lines) {
        if (line === '') made += event();
        else if (line === 'data' || line.startsWith('data:'))
          data.push(line.slice('data:'.length).replace(/^ /, ''));
        else fields.push(line);
      }
      if (made !== '') controller.enqueue(encoder.encode(made));
    },
    flush(controller) {
      const message = canBeResumed ? undefined : unfinished(last);
      if (message !== undefined) controller.enqueue(encoder.encode(`data: ${message}\n\n`));
    },
  });
}
