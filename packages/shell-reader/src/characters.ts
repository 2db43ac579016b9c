export const TAB = 9;
export const NEWLINE = 10;
export const RETURN = 13;
export const SPACE = 32;
export const DOUBLE_QUOTE = 34;
export const HASH = 35;
export const DOLLAR = 36;
export const AMPERSAND = 38;
export const QUOTE = 39;
export const OPEN = 40;
export const CLOSE = 41;
export const STAR = 42;
export const PLUS = 43;
export const COMMA = 44;
export const DASH = 45;
export const DOT = 46;
export const SEMICOLON = 59;
export const LESS = 60;
export const EQUALS = 61;
export const GREATER = 62;
export const QUESTION = 63;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const BACKQUOTE = 96;
export const OPEN_BRACE = 123;
export const PIPE = 124;
export const CLOSE_BRACE = 125;

/** In a word: an ordinary character, one that needs a look, or one that ends the word. */
const ORDINARY = 0;
const SPECIAL = 1;
const ENDS = 2;

const IN_WORD = new Uint8Array(128);
for (const code of [TAB, NEWLINE, SPACE, SEMICOLON, AMPERSAND, PIPE, OPEN, CLOSE, LESS, GREATER]) {
  IN_WORD[code] = ENDS;
}
for (const character of '\r\\\'"$`*?[{') IN_WORD[character.charCodeAt(0)] = SPECIAL;

export const isOrdinary = (code: number): boolean => code >= 128 || IN_WORD[code] === ORDINARY;
/** Whether a word ends before the character. */
export const endsWord = (code: number): boolean => code < 128 && IN_WORD[code] === ENDS;
export const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** Whether the character can begin a name of a variable. */
export const beginsName = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
export const inName = (code: number): boolean => beginsName(code) || isDigit(code);
