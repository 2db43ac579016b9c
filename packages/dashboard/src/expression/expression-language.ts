import { StreamLanguage, type StreamParser } from '@codemirror/language';

interface TokenState {
  /** The quotes that end the text that goes over the end of a line; null outside of one. */
  quotes: string | null;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['true', 'bool'],
  ['false', 'bool'],
  ['null', 'null'],
  ['in', 'keyword'],
  ['has', 'keyword'],
]);

/** The tokens of the Common Expression Language, as far as colors need them. */
const parser: StreamParser<TokenState> = {
  name: 'cel',
  startState: () => ({ quotes: null }),
  token(stream, state) {
    if (state.quotes !== null) return textToken(stream, state, state.quotes, false);
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    const prefix = stream.match(/^(?:[rR][bB]?|[bB][rR]?)?(?='|")/);
    const isRaw = Array.isArray(prefix) && /r/i.test(String(prefix[0]));
    for (const quotes of ['"""', "'''", '"', "'"]) {
      if (stream.match(quotes)) return textToken(stream, state, quotes, isRaw);
    }
    if (stream.match(/^0[xX][0-9a-fA-F]+[uU]?|^[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[uU]?/)) {
      return 'number';
    }
    const word = stream.match(/^[A-Za-z_][A-Za-z0-9_]*/);
    if (Array.isArray(word)) return WORDS.get(String(word[0])) ?? 'variableName';
    stream.next();
    return null;
  },
};

type Stream = Parameters<StreamParser<TokenState>['token']>[0];

/** The rest of a text, or of its line: a text in three quotes may go on in the next one. */
function textToken(stream: Stream, state: TokenState, quotes: string, isRaw: boolean): string {
  state.quotes = null;
  while (!stream.eol()) {
    if (stream.match(quotes)) return 'string';
    if (stream.next() === '\\' && !isRaw) stream.next();
  }
  if (quotes.length === 3) state.quotes = quotes;
  return 'string';
}

export const expressionLanguage = StreamLanguage.define(parser);
