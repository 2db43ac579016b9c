/** Most wrappings inside each other that are opened. */
const MAX_WRAPPINGS = 6;
/** Wrapped texts have at most this many times the length of the text, so that the work stays linear. */
const MAX_GROWTH = 8;

const BEGINS_LIKE_JSON = /^[\s\ufeff]*[{["]/;
const FENCE = /```|~~~/;
/** The line that opens a fenced block: nothing, or the name of a language. */
const FENCE_INFO = /^[^\s]*[^\S\n]*\n/;
const OPENING = new Set(["'", '`', '\u2018', '\u201c', '\u00ab']);
const CLOSING = new Set(["'", '`', '\u2019', '\u201d', '\u00bb']);

/**
 * The texts that a text wraps: the strings of a JSON text, the blocks of a Markdown text, and what stands between quotes.
 * A tool that unwraps its argument executes these. At any depth up to six. Of a text whose wrappings overlap, which none
 * of these formats produces, the text itself is the last one.
 */
export function* wrappedTexts(text: string): Generator<string, void, undefined> {
  let left = text.length * MAX_GROWTH;
  let level = [text];
  for (let depth = 0; depth < MAX_WRAPPINGS && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const outer of level) {
      for (const inner of unwrap(outer)) {
        if (inner === '' || inner.length >= outer.length) continue;
        left -= inner.length;
        if (left < 0) {
          yield text;
          return;
        }
        yield inner;
        next.push(inner);
      }
    }
    level = next;
  }
}

function* unwrap(text: string): Generator<string, void, undefined> {
  if (BEGINS_LIKE_JSON.test(text)) yield* jsonStrings(text);
  if (FENCE.test(text)) yield* blocks(text);
  const trimmed = text.trim();
  const end = trimmed.endsWith(';') ? trimmed.slice(0, -1).trimEnd() : trimmed;
  if (end.length > 2 && OPENING.has(end[0] ?? '') && CLOSING.has(end.at(-1) ?? '')) yield end.slice(1, -1);
}

/** The strings of a JSON text, member names included; of a damaged one all that is between quotes. */
function* jsonStrings(text: string): Generator<string, void, undefined> {
  let from = text.indexOf('"');
  while (from >= 0) {
    let end = from + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    yield unescaped(text.slice(from + 1, end));
    from = text.indexOf('"', end + 1);
  }
}

function unescaped(written: string): string {
  if (!written.includes('\\')) return written;
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    // Control characters, which JSON forbids and lenient parsers accept.
    return written.replaceAll('\\"', '"');
  }
}

/** The fenced blocks of a Markdown text without their first line; one that is not closed goes to the end. */
function* blocks(text: string): Generator<string, void, undefined> {
  for (const [index, part] of text.split(FENCE).entries()) {
    if (index % 2 === 1) yield part.replace(FENCE_INFO, '');
  }
}
