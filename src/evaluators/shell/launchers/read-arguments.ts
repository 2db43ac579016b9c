import { UNKNOWN, type Word } from '../../../../packages/shell-reader/src/index.js';
import { type Grammar, longKind, type OptionKind } from './grammar.js';
import { grammarOf } from './rows.js';

/** The text of a word from a place on: `--exec=text`. */
export interface Piece {
  readonly word: Word;
  readonly from: number;
}

export const pieceText = ({ word, from }: Piece): string => word.value.slice(from);

/** What a program runs, as its arguments say. */
export interface Reading {
  /** Index of the word that names the program it runs, or with which a text begins; -1 for none. */
  at: number;
  /** Whether the words from `at` on are one text for a shell, or each is one. */
  form: 'program' | 'joined' | 'text' | 'texts';
  readonly texts: Piece[];
  /** Programs in other languages, files with commands, settings that may have a command. */
  readonly codes: Piece[];
  readonly files: Piece[];
  readonly settings: Piece[];
  readonly names: Piece[];
  /** Programs up to a `;`, from one index to another. */
  readonly inner: [from: number, to: number][];
  /** Whether all options are known: otherwise another word may name the program. */
  certain: boolean;
  /** A word that may be an option only at run time. */
  unsure: Word | undefined;
  /** Whether it runs nothing. */
  queries: boolean;
  /** The words of the command: `remote`, `add`. */
  readonly command: number[];
  grammar: Grammar;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:%%)?=/;
const END_OF_INNER = /^[;+]$/;

/** Reads the arguments of the program at `from`, whose row is `grammar`. */
export function readArguments(
  name: string,
  grammar: Grammar,
  words: readonly Word[],
  from: number,
  to: number,
): Reading {
  return new ArgumentReader(name, grammar, words, to).read(from + 1);
}

/** Whether the word may be an option at run time; a number, or the path of a substitution, is none. */
const mayBeOption = ({ splits, quoted, value }: Word): boolean =>
  splits || (quoted && value.startsWith(UNKNOWN));

class ArgumentReader {
  readonly #reading: Reading;
  #key: string;
  #at = 0;
  #first = 0;
  readonly #bundles: boolean;
  /** Index of the last `--`. */
  #lastDashes: number | undefined;

  constructor(
    name: string,
    grammar: Grammar,
    private readonly words: readonly Word[],
    private readonly to: number,
  ) {
    this.#key = name;
    this.#bundles = /^(?:g|bsd|s)?tar$/.test(name);
    this.#reading = {
      ...{ at: -1, form: 'program', certain: true, unsure: undefined, queries: false, grammar },
      ...{ texts: [], codes: [], files: [], settings: [], names: [], inner: [], command: [] },
    };
  }

  read(from: number): Reading {
    const reading = this.#reading;
    this.#at = from;
    this.#first = from;
    let before = reading.grammar.before;
    while (this.#at < this.to && reading.at < 0) {
      const word = this.words[this.#at] as Word;
      const { value } = word;
      const { rest } = reading.grammar;
      if (value === '--') {
        this.#at += 1;
        // The words before the program may follow, where nothing else ends its options.
        if (!rest.has('dashes')) this.#at += rest.has('cmd') || rest.has('sh') ? before : 0;
        if (rest.has('sub') && !rest.has('dashes')) continue;
        if (rest.has('names')) reading.unsure = undefined;
        while (this.#at < this.to && !this.#operand()) this.#at += 1;
        break;
      }
      if (this.#option(word)) continue;
      if (mayBeOption(word)) reading.unsure ??= word;
      if (rest.has('env') && ASSIGNMENT.test(value)) this.#at += 1;
      else if (before > 0) {
        before -= 1;
        this.#at += 1;
        if (word.splits || word.pattern) reading.certain = false;
      } else if (rest.has('sub') && this.#command(value)) before = reading.grammar.before;
      else if (rest.has('dashes') && this.#hasDashes()) this.#at += 1;
      else if (!this.#operand()) this.#at += 1;
    }
    return reading;
  }

  /** Whether the word is a command of the program, which reads the rest. */
  #command(value: string): boolean {
    const reading = this.#reading;
    this.#key = `${this.#key} ${value}`;
    reading.command.push(this.#at);
    const grammar = grammarOf(this.#key);
    if (grammar === undefined) {
      // With a command that runs nothing, the rest has no meaning here.
      if (reading.grammar.rest.has('cmd')) return false;
      for (let at = this.#at + 1; at < this.to; at += 1) {
        const word = this.words[at] as Word;
        if (!word.value.startsWith('-')) reading.command.push(at);
        if (mayBeOption(word)) reading.unsure ??= word;
      }
      this.#at = this.to;
      return true;
    }
    reading.grammar = grammar;
    this.#at += 1;
    return true;
  }

  #hasDashes(): boolean {
    if (this.#lastDashes === undefined) {
      this.#lastDashes = this.to - 1;
      while (this.#lastDashes > 0 && this.words[this.#lastDashes]?.value !== '--') this.#lastDashes -= 1;
    }
    return this.#lastDashes > this.#at;
  }

  /** The word that no option is. Returns false where the words after it still have to be read. */
  #operand(): boolean {
    const reading = this.#reading;
    const { rest } = reading.grammar;
    const word = this.words[this.#at];
    if (word === undefined) return true;
    if (rest.has('env')) {
      while (this.#at < this.to && ASSIGNMENT.test((this.words[this.#at] as Word).value)) this.#at += 1;
    }
    if (this.#at >= this.to) return true;
    if (rest.has('sh') || rest.has('text') || rest.has('texts')) {
      reading.form = rest.has('texts') ? 'texts' : rest.has('sh') ? 'joined' : 'text';
      reading.at = this.#at;
      return true;
    }
    if (rest.has('cmd') || rest.has('dashes')) {
      if (!rest.has('cmd') && rest.has('lax') && (this.words[this.#at - 1] as Word).value !== '--')
        return false;
      reading.at = this.#at;
      return true;
    }
    if (rest.has('code') && reading.codes.length + reading.files.length === 0) {
      reading.codes.push({ word, from: 0 });
    } else if (rest.has('names')) reading.names.push({ word, from: 0 });
    else if (rest.has('settings')) reading.settings.push({ word, from: 0 });
    else if (rest.has('sub') || rest.has('verbs') || reading.command.length > 0)
      reading.command.push(this.#at);
    return false;
  }

  /** Passes an option with its value. Returns false for a word that is none. */
  #option(word: Word): boolean {
    const { grammar } = this.#reading;
    const { value } = word;
    if (this.#bundles && this.#at === this.#first && /^[A-Za-z]+$/.test(value)) {
      this.#bundle(value);
      return true;
    }
    const asWritten = grammar.words.get(value);
    if (asWritten !== undefined) {
      this.#apply(asWritten, word, -1);
      return true;
    }
    const plus = value.length > 1 && value.startsWith('+') ? grammar.short.get('+') : undefined;
    if (plus !== undefined) {
      this.#apply(plus, word, 1);
      return true;
    }
    if (value.length < 2 || !value.startsWith('-')) {
      // A login shell for su, an empty environment for env.
      if (value !== '-') return false;
      this.#at += 1;
      return true;
    }
    if (word.dynamic && !value.includes('=')) this.#reading.unsure ??= word;
    if (value.startsWith('--')) {
      const equals = value.indexOf('=');
      const kind = longKind(grammar, value.slice(2, equals < 0 ? undefined : equals));
      this.#apply(kind, word, equals < 0 ? -1 : equals + 1);
      return true;
    }
    for (let index = 1; index < value.length; index += 1) {
      const kind = grammar.short.get(value[index] as string);
      const isLast = index === value.length - 1;
      if (kind === 'flag' && !isLast) continue;
      // What follows may be its value, or more options.
      if (kind === 'optional' && grammar.short.has(value[index + 1] ?? '')) continue;
      // Tools with an alphabet of their own have options with one dash: -wrapper.
      if (kind === undefined && grammar.rest.has('lax') && !isLast) continue;
      this.#apply(kind, word, isLast || kind === undefined ? -1 : index + 1);
      return true;
    }
    this.#at += 1;
    return true;
  }

  /** `tar cIf program file`: options without a dash, whose values follow in their order. */
  #bundle(letters: string): void {
    this.#at += 1;
    for (const letter of letters) {
      const kind = this.#reading.grammar.short.get(letter);
      if (kind === undefined || this.#at >= this.to) continue;
      // Where the option would be; its value is the next word.
      this.#at -= 1;
      this.#apply(kind, this.words[this.#at] as Word, -1);
    }
  }

  /** What an option does. Its value begins at `from` in the word, or is the next word for -1. */
  #apply(kind: OptionKind | undefined, word: Word, from: number): void {
    const reading = this.#reading;
    this.#at += 1;
    if (kind === undefined) {
      if (!reading.grammar.rest.has('lax')) reading.certain = false;
      return;
    }
    if (kind === 'flag' || kind === 'optional') return;
    if (kind === 'joined' && from < 0) return;
    if (kind === 'query') reading.queries = true;
    else if (kind === 'rest') reading.at = this.#at < this.to ? this.#at : -1;
    else if (kind === 'until') this.#inner();
    else {
      const next = from < 0 ? this.words[this.#at] : word;
      if (from < 0) this.#at += kind === 'two' ? 2 : 1;
      if (next === undefined || this.#at > this.to) return;
      if (next.splits) reading.unsure ??= next;
      const piece = { word: next, from: Math.max(from, 0) };
      if (kind === 'text' || kind === 'joined') reading.texts.push(piece);
      else if (kind === 'code') reading.codes.push(piece);
      else if (kind === 'file') reading.files.push(piece);
      else if (kind === 'setting') reading.settings.push(piece);
      else if (kind === 'name') reading.names.push(piece);
    }
  }

  #inner(): void {
    const start = this.#at;
    while (this.#at < this.to && !END_OF_INNER.test((this.words[this.#at] as Word).value)) this.#at += 1;
    if (start < this.#at) this.#reading.inner.push([start, this.#at]);
    this.#at += 1;
  }
}
