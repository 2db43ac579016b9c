import {
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
} from 'yaml';
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH, parseJson } from '../../exact-json/src/index.js';

/** A place in a file, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a file, and where. */
export interface FileProblem extends Place {
  readonly message: string;
}

/** One document of a file, as exact JSON. */
export interface FileDocument {
  readonly value: JsonValue;
  /** The place of what a path names, or of the nearest value around it. */
  placeOf(path: readonly PropertyKey[]): Place;
}

/** The documents of a file; there are problems, or all of them are valid. */
export interface FileReading {
  readonly documents: readonly FileDocument[];
  readonly problems: readonly FileProblem[];
}

/** Most problems of one file that are told. */
const MAX_PROBLEMS = 20;
/**
 * Most tokens of a file, each a text, a number, a mark such as `:` or `[`, an indentation, or the end of a line. Exports of
 * controls have one in 2.8 bytes, so that 4 MB of them stay below it; 4 MB of two in a byte would take 2 GB of memory.
 */
const MAX_TOKENS = 1_600_000;
const TOO_MANY_TOKENS = `the file has more than ${MAX_TOKENS} texts, marks and ends of lines up to here. Split it into several files`;
/** Most brackets that open one after the other; the depth of what they make is checked for each value. */
const MAX_BRACKETS_AT_ONCE = 5_000;
const TOO_DEEP = `must not nest deeper than ${MAX_JSON_DEPTH} levels`;
/** As JSON has them: other forms of YAML, such as 0x1F or .inf, have no meaning in a control. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** What to do about what the parser finds, by its codes. */
const HINTS: { readonly [code in ErrorCode]?: string } = {
  BAD_INDENT: '; indent members of the same object by the same number of blanks',
  BAD_SCALAR_START: '; put the text in quotes',
  MISSING_CHAR: '; close what is open, or put the text in quotes',
  TAB_AS_INDENT: '; use blanks',
  TAG_RESOLVE_FAILED: '; tags are not read, remove it',
  UNEXPECTED_TOKEN: '; check the indentation, the quotes and the brackets before it',
};

/**
 * Reads the documents of a text of YAML 1.2, which JSON is a part of (https://yaml.org/spec/1.2.2), as JSON without loss of
 * digits. Refused are what JSON has no form for, members that occur twice, tags, and aliases, with which a short text makes
 * a large value. Empty documents are left out. Never throws.
 */
export function readDocuments(text: string): FileReading {
  const lines = new LineCounter();
  const problems: FileProblem[] = [];
  const tell = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset);
    if (problems.length < MAX_PROBLEMS)
      problems.push({ line: Math.max(line, 1), column: Math.max(col, 1), message });
  };
  const documents: FileDocument[] = [];
  for (const document of parsed(text, lines, tell)) {
    for (const { pos, code, message } of [...document.errors, ...document.warnings])
      tell(pos[0], problemOf(code, message));
    if (document.directives?.yaml.version !== '1.2') tell(document.range?.[0] ?? 0, 'must be YAML 1.2');
    const { contents } = document;
    if (contents === null || problems.length > 0) continue;
    const value = jsonOf(contents, 1, tell);
    documents.push({ value, placeOf: (path) => placeIn(contents, path, lines) });
  }
  return { documents, problems };
}

type Tell = (offset: number, message: string) => void;

function parsed(text: string, lines: LineCounter, tell: Tell): readonly Document.Parsed[] {
  const deep = deepPlace(text);
  if (deep !== undefined) {
    lines.addNewLine(0);
    for (let at = text.indexOf('\n'); at >= 0 && at < deep; at = text.indexOf('\n', at + 1))
      lines.addNewLine(at + 1);
    tell(deep, TOO_DEEP);
    return [];
  }
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    // Compares each member with each other; `jsonOf` looks for those that occur twice.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  });
  const { stackTraceLimit } = Error;
  // The parser makes an error of each wrong token, hundreds of thousands in a hostile text.
  Error.stackTraceLimit = 0;
  try {
    const documents = [...composer.compose(partsOf(text, parser))];
    // Those of a text without any document.
    for (const { pos, code, message } of composer.streamInfo().errors) tell(pos[0], problemOf(code, message));
    return documents;
  } catch (error) {
    if (error instanceof TooManyTokens) tell(parser.offset, TOO_MANY_TOKENS);
    // The parser recurses into nested values without a limit of its own.
    else tell(0, error instanceof RangeError ? TOO_DEEP : `cannot be read as YAML: ${String(error)}`);
    return [];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

class TooManyTokens extends Error {}

/** What the parser finds, as it finds it. Ends after the errors that are told. Throws `TooManyTokens`. */
function* partsOf(text: string, parser: Parser): Generator<CST.Token> {
  let tokens = 0;
  let errors = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > MAX_TOKENS) throw new TooManyTokens();
    for (const part of parser.next(token)) {
      yield part;
      if (part.type === 'error') errors += 1;
      if (errors >= MAX_PROBLEMS) return;
    }
  }
  yield* parser.end();
}

function jsonOf(node: Node | null, depth: number, tell: Tell): JsonValue {
  if (node === null) return null;
  const at = node.range?.[0] ?? 0;
  if (depth > MAX_JSON_DEPTH) {
    tell(at, TOO_DEEP);
    return null;
  }
  if (isMap<Node, Node | null>(node)) {
    const object: JsonObject = {};
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (Object.hasOwn(object, name)) {
        const place = key.range?.[0] ?? at;
        tell(place, `Map keys must be unique: ${name} occurs twice; remove or rename one of them`);
      }
      const member = jsonOf(value, depth + 1, tell);
      // An assignment to __proto__ would set the prototype.
      Object.defineProperty(object, name, {
        value: member,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  }
  if (isSeq<Node>(node)) return node.items.map((item) => jsonOf(item, depth + 1, tell));
  if (isAlias(node)) {
    tell(at, `aliases such as *${node.source} are not read; write the value out`);
    return null;
  }
  return isScalar(node) ? scalarOf(node.value, node.source ?? '', at, tell) : null;
}

function scalarOf(value: unknown, source: string, at: number, tell: Tell): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (NUMBER.test(source)) {
    try {
      return parseJson(source);
    } catch (error) {
      tell(at, error instanceof Error ? error.message : 'is no number');
      return null;
    }
  }
  tell(at, `must be a number as in JSON, or a text in quotes: "${source}"`);
  return null;
}

function placeIn(contents: Node, path: readonly PropertyKey[], lines: LineCounter): Place {
  let node: Node | null = contents;
  let offset = contents.range?.[0] ?? 0;
  for (const part of path) {
    if (isMap<Node, Node | null>(node)) {
      const pair: Pair<Node, Node | null> | undefined = node.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(part),
      );
      if (pair === undefined) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq<Node>(node)) {
      const item: Node | undefined = node.items[Number(part)];
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** What the parser says, in one line, with what to do about it. */
function problemOf(code: ErrorCode, message: string): string {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP;
  const [first = message] = message.split('\n', 1);
  return first + (HINTS[code] ?? '');
}

/** Where so many brackets open at once that the parser would take minutes to find that nothing closes them. */
function deepPlace(text: string): number | undefined {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const one = text[at];
    if (one === '[' || one === '{') open += 1;
    else if (one !== ' ' && one !== '\n') open = 0;
    if (open > MAX_BRACKETS_AT_ONCE) return at;
  }
  return undefined;
}
