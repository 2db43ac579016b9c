import { readdirSync, readFileSync } from 'node:fs';
import type { Json } from './wire-shape.js';

type JsonObject = { [key: string]: Json };

/** What an evaluation of a case file must give. */
export interface CaseExpectation {
  readonly is_safe: boolean;
  readonly confidence: number;
  /** `any` for any non-empty text. */
  readonly reason: null | 'any';
  /** Names of controls, in the order of the list. */
  readonly matches: readonly string[];
  readonly errors: readonly string[];
  readonly non_matches: readonly string[];
  /** Members that the condition trace of a control has, by control name. */
  readonly trace?: Readonly<Record<string, JsonObject>>;
  /** Members that the metadata of a control have, by control name. */
  readonly metadata?: Readonly<Record<string, JsonObject>>;
}

/** Controls of one agent, and what they say about steps. */
export interface CaseFile {
  readonly file: string;
  readonly name: string;
  readonly controls: readonly { readonly name: string; readonly data: JsonObject }[];
  readonly evaluations: readonly {
    readonly step: JsonObject;
    readonly stage: 'pre' | 'post';
    readonly expect: CaseExpectation;
  }[];
}

/** The files of test/cases, in the order of their names. */
export function readCaseFiles(): CaseFile[] {
  const directory = new URL('../cases/', import.meta.url);
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      ...(JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Omit<CaseFile, 'file'>),
      file,
    }));
}
