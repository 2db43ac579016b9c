import { UNKNOWN, type Word } from '../../../../shell-reader/src/index.js';
import { type Grammar, longKind, type OptionKind } from './grammar.js';
import { grammarOf } from './rows.js';

/** The text of a word from a place on: `--exec=text`. */
export interface Piece {
  readonly word: Word;
  readonly from: number;
  readonly text: string;
}

export const pieceOf = (word: Word, from = 0): Piece => ({ word, from, text: word.value.slice(from) });

/** What a program runs, as its arguments say. */
export interface Reading {
  /** Index of the argument that names the program it runs, or with which a text begins; -1 for none. */
  at: number;
  /** Whether the words from `at` on are one text for a shell, or each is one. */
  form: 'program' | 'joined' | 'text' | 'texts';
  /** Texts for a shell, programs in other languages, files with commands, settings that may have a command, variables. */
  readonly pieces: Readonly<Record<'text' | 'code' | 'file' | 'setting' | 'name', Piece[]>>;
  /** Programs with their arguments, up to a `;`. */
  readonly inner: (readonly Word[])[];
  /** Whether all options are known: otherwise another word may name the program. */
  certain: boolean;
  /** A word that may be an option only at run time. */
  unsure: Word | undefined;
  /** Whether it runs nothing. */
  queries: boolean;
  /** The words of the command: `remote`, `add`. */
  readonly command: Word[];
  grammar: Grammar;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:%%)?=/;
const END_OF_INNER = /^[;+]$/;

/** Reads the arguments of a program, whose row is `grammar`. */
export const readArguments = (name: string, grammar: Grammar, args: readonly Word[]): Reading =>
  new ArgumentReader(name, grammar, args).read();

/** Whether the word may be an option at run time; a number, or the path of a substitution, is none. */
const mayBeOption = ({ splits, quoted, value }: Word): boolean =>
  splits || (quoted && value.startsWith(UNKNOWN));

class ArgumentReader {
  readonly #reading: Reading;
  #key: string;
  #at = 0;
  readonly #bundles: boolean;
  /** Index of the last `--`. */
  #lastDashes: number | undefined;

  constructor(
    name: string,
    grammar: Grammar,
    private readonly args: readonly Word[],
  ) {
    this.#key = name;
    this.#bundles = /^(?:g|bsd|s)?tar$/.test(name);
    this.#reading = {
      ...{ at: -1, form: 'program', certain: true, unsure: undefined, queries: false, grammar },
      ...{ pieces: { text: [], code: [], file: [], setting: [], name: [] }, inner: [], command: [] },
    };
  }

  read(): Reading {
    const reading = this.#reading;
    let { before } = reading.grammar;
    while (this.#at < this.args.length && reading.at < 0) {
      const word = this.args[this.#at] as Word;
      const { value } = word;
      const { rest } = reading.grammar;
      if (value === '--') {
        this.#at += 1;
        // The words before the program may follow, where nothing else ends its options.
        if (!rest.has('dashes')) this.#at += rest.has('cmd') || rest.has('sh') ? before : 0;
        if (rest.has('sub') && !rest.has('dashes')) continue;
        if (rest.has('names')) reading.unsure = undefined;
        while (!this.#operand()) this.#at += 1;
        break;
      }
      if (this.#option(word)) continue;
      if (mayBeOption(word)) reading.unsure ??= word;
      if (rest.has('env') && ASSIGNMENT.test(value)) this.#at += 1;
      else if (before > 0) {
        before -= 1;
        this.#at += 1;
        if (word.splits || word.pattern) reading.certain = false;
      } else if (rest.has('sub') && this.#command(word)) before = reading.grammar.before;
      else if (rest.has('dashes') && this.#hasDashes()) this.#at += 1;
      else if (!this.#operand()) this.#at += 1;
    }
    return reading;
  }

  /** Whether the word is a command of the program, which reads the rest. */
  #command(command: Word): boolean {
    const reading = this.#reading;
    this.#key = `${this.#key} ${command.value}`;
    reading.command.push(command);
    const grammar = grammarOf(this.#key);
    if (grammar === undefined && reading.grammar.rest.has('cmd')) return false;
    this.#at += 1;
    if (grammar !== undefined) {
      reading.grammar = grammar;
      return true;
    }
    // With a command that runs nothing, the rest has no meaning here.
    for (const word of this.args.slice(this.#at)) {
      if (!word.value.startsWith('-')) reading.command.push(word);
      if (mayBeOption(word)) reading.unsure ??= word;
    }
    this.#at = this.args.length;
    return true;
  }

  #hasDashes(): boolean {
    this.#lastDashes ??= this.args.findLastIndex(({ value }) => value === '--');
    return this.#lastDashes > this.#at;
  }

  /** The word that no option is. Returns false where the words after it still have to be read. */
  #operand(): boolean {
    const reading = this.#reading;
    const { rest } = reading.grammar;
    while (rest.has('env') && ASSIGNMENT.test(this.args[this.#at]?.value ?? '')) this.#at += 1;
    const word = this.args[this.#at];
    if (word === undefined) return true;
    if (rest.has('sh') || rest.has('text') || rest.has('texts')) {
      reading.form = rest.has('texts') ? 'texts' : rest.has('sh') ? 'joined' : 'text';
      reading.at = this.#at;
      return true;
    }
    if (rest.has('cmd') || rest.has('dashes')) {
      if (!rest.has('cmd') && rest.has('lax') && this.args[this.#at - 1]?.value !== '--') return false;
      reading.at = this.#at;
      return true;
    }
    const { code, file, name, setting } = reading.pieces;
    if (rest.has('codes') || (rest.has('code') && code.length + file.length === 0)) code.push(pieceOf(word));
    else if (rest.has('names')) name.push(pieceOf(word));
    else if (rest.has('settings')) setting.push(pieceOf(word));
    else if (rest.has('sub') || rest.has('verbs') || reading.command.length > 0) reading.command.push(word);
    return false;
  }

  /** Passes an option with its value. Returns false for a word that is none. */
  #option(word: Word): boolean {
    const { grammar } = this.#reading;
    const { value } = word;
    if (this.#bundles && this.#at === 0 && /^[A-Za-z]+$/.test(value)) {
      this.#bundle(value);
      return true;
    }
    const asWritten = grammar.words.get(value);
    if (asWritten !== undefined) return this.#apply(asWritten, word, -1);
    const plus = value.length > 1 && value.startsWith('+') ? grammar.short.get('+') : undefined;
    if (plus !== undefined) return this.#apply(plus, word, 1);
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
      return this.#apply(kind, word, equals < 0 ? -1 : equals + 1);
    }
    for (let index = 1; index < value.length; index += 1) {
      const kind = grammar.short.get(value[index] as string);
      const isLast = index === value.length - 1;
      if (kind === 'flag' && !isLast) continue;
      // What follows may be its value, or more options.
      if (kind === 'optional' && grammar.short.has(value[index + 1] ?? '')) continue;
      // Tools with an alphabet of their own have options with one dash: -wrapper.
      if (kind === undefined && grammar.rest.has('lax') && !isLast) continue;
      return this.#apply(kind, word, isLast || kind === undefined ? -1 : index + 1);
    }
    this.#at += 1;
    return true;
  }

  /** `tar cIf program file`: options without a dash, whose values follow in their order. */
  #bundle(letters: string): void {
    this.#at += 1;
    for (const letter of letters) {
      const kind = this.#reading.grammar.short.get(letter);
      if (kind === undefined || this.#at >= this.args.length) continue;
      // Where the option would be; its value is the next word.
      this.#at -= 1;
      this.#apply(kind, this.args[this.#at] as Word, -1);
    }
  }

  /** What an option does. Its value begins at `from` in the word, or is the next word for -1. */
  #apply(kind: OptionKind | undefined, word: Word, from: number): true {
    const reading = this.#reading;
    this.#at += 1;
    if (kind === undefined) {
      if (!reading.grammar.rest.has('lax')) reading.certain = false;
    } else if (kind === 'query') reading.queries = true;
    else if (kind === 'rest') reading.at = this.#at < this.args.length ? this.#at : -1;
    else if (kind === 'until') this.#inner();
    else if (kind !== 'flag' && kind !== 'optional' && (kind !== 'joined' || from >= 0)) {
      const next = from < 0 ? this.args[this.#at] : word;
      if (from < 0) this.#at += kind === 'two' ? 2 : 1;
      if (next === undefined || this.#at > this.args.length) return true;
      if (next.splits) reading.unsure ??= next;
      if (kind === 'value' || kind === 'two') return true;
      reading.pieces[kind === 'joined' ? 'text' : kind].push(pieceOf(next, Math.max(from, 0)));
    }
    return true;
  }

  #inner(): void {
    const start = this.#at;
    while (this.#at < this.args.length && !END_OF_INNER.test((this.args[this.#at] as Word).value))
      this.#at += 1;
    if (start < this.#at) this.#reading.inner.push(this.args.slice(start, this.#at));
    this.#at += 1;
  }
}
